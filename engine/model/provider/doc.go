// Package provider owns the way from a [model.Spec] to a model: the scripted
// one, or a client with its provider's address and key.
package provider
