// Package assignor decides which member of a group holds which partition.
package assignor
