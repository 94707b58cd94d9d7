// Package audit reads the API server's audit log and tells from it who wrote what. A write is a request that changed an
// object: one that was refused, only tried (dry run), or left the object as it was is none. Events and leases are left
// out, so that an idle controller counts as writing nothing while it keeps its leadership.
package audit

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Write is a request that changed an object.
type Write struct {
	// Time is when the request came in, by the API server's clock.
	Time time.Time
	// User is who wrote; of an impersonated request, who it was made for.
	User      string
	UserAgent string
	// Verb is create, update, patch, delete or deletecollection.
	Verb string
	// Group, Resource and Subresource say what kind of object was written; Resource is the plural.
	Group, Resource, Subresource string
	Namespace, Name              string
	// ResourceVersion is that of the object after the write; empty where the answer was no object.
	ResourceVersion string
}

// event is the part of an audit event that is read here.
type event struct {
	Stage                    string    `json:"stage"`
	Verb                     string    `json:"verb"`
	RequestURI               string    `json:"requestURI"`
	UserAgent                string    `json:"userAgent"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
	User                     user      `json:"user"`
	ImpersonatedUser         *user     `json:"impersonatedUser"`
	ObjectRef                reference `json:"objectRef"`
	ResponseStatus           struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	ResponseObject object `json:"responseObject"`
}

type user struct {
	Username string `json:"username"`
}

type reference struct {
	APIGroup    string `json:"apiGroup"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
}

type object struct {
	Metadata struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

var mutatingVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}

// parse reads one line of the log.
func parse(line []byte) (event, error) {
	var parsed event
	if err := json.Unmarshal(line, &parsed); err != nil {
		return event{}, fmt.Errorf("read a line of the audit log: %w", err)
	}
	return parsed, nil
}

// succeeded tells whether the request may have changed something.
func (e event) succeeded() bool {
	return e.Stage == "ResponseComplete" && slices.Contains(mutatingVerbs, e.Verb) &&
		e.ResponseStatus.Code/100 == 2 && !e.dryRun()
}

func (e event) dryRun() bool {
	request, err := url.Parse(e.RequestURI)
	return err == nil && request.Query().Has("dryRun")
}

// counted tells whether writes of this kind are counted.
func (e event) counted() bool {
	switch e.ObjectRef.Resource {
	case "events":
		return false
	case "leases":
		return e.ObjectRef.APIGroup != "coordination.k8s.io"
	default:
		return true
	}
}

func (e event) write() Write {
	who := e.User
	if e.ImpersonatedUser != nil {
		who = *e.ImpersonatedUser
	}
	name := e.ObjectRef.Name
	if name == "" { // created with a generated name
		name = e.ResponseObject.Metadata.Name
	}
	return Write{
		Time: e.RequestReceivedTimestamp, User: who.Username, UserAgent: e.UserAgent, Verb: e.Verb,
		Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Subresource: e.ObjectRef.Subresource,
		Namespace: e.ObjectRef.Namespace, Name: name, ResourceVersion: e.ResponseObject.Metadata.ResourceVersion,
	}
}
