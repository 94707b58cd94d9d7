// Package publish brings a member's assignment to its pod.
package publish
