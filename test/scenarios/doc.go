// Package scenarios reads behavior that is written down as short text files, and checks it against a world: the pure
// packages over an API server in memory with a virtual clock. README.md in this folder describes the language.
//
// Parse reads a file, Play plays it in a World, and what a world shows is checked by its Expectations. A world is an
// interface, so that the same file can be played against a real API server.
package scenarios
