package controllers

import (
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// ErrNotSent marks an error of a request that certainly never left this process.
var ErrNotSent = errors.New("not sent")

// IsConflict: the object had changed, or is another one of the same name; nothing was written.
func IsConflict(err error) bool { return apierrors.IsConflict(err) }

// IsAlreadyExists: an object of that name was there before; nothing was written.
func IsAlreadyExists(err error) bool { return apierrors.IsAlreadyExists(err) }

// IsNotFound: the object, or what it stands in, is gone.
func IsNotFound(err error) bool { return apierrors.IsNotFound(err) }

// IsNamespaceTerminating: nothing more can be created, since the namespace is going.
func IsNamespaceTerminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// IsOvertaken: the write was decided from an object that is no longer so. Deciding again settles it.
func IsOvertaken(err error) bool {
	return IsConflict(err) || IsAlreadyExists(err) || IsNotFound(err)
}

// IsRefused: the API server said no for a reason that trying again at once does not change.
func IsRefused(err error) bool {
	return isDefinite(err) && !IsOvertaken(err) && !apierrors.IsTooManyRequests(err) && !notSent(err)
}

// IsUnknownOutcome: the write may have been applied, now or later. What is not known to be an answer counts as none.
func IsUnknownOutcome(err error) bool { return err != nil && !isDefinite(err) }

// isDefinite: nothing was written and nothing will be. Of the API server's answers only those of class 4xx are such: one of
// class 5xx may stand for a store that answered too late.
func isDefinite(err error) bool {
	if notSent(err) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

func notSent(err error) bool {
	return errors.Is(err, ErrNotSent) || utilnet.IsConnectionRefused(err)
}
