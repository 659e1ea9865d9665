package engine

import (
	"errors"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

func manifestHeader(m stores.Manifest) seal.Header {
	return seal.Header{Kind: seal.KindBundle, Store: m.Store, N: m.Runs, Time: micros(m.Created)}
}

// SignManifest signs the manifest of a bundle.
func SignManifest(keys *seal.Keyring, m stores.Manifest) (stores.Seal, error) {
	return sign(keys, manifestHeader(m), m.Payload)
}

// CheckManifest says what a bundle's manifest is worth, with one plain sentence.
// Each run of the bundle has a verdict of its own, see [Verify]; the manifest
// says whether all runs are there that were put into it.
func CheckManifest(keys *seal.Keyring, m stores.Manifest) (Verdict, string) {
	err := check(keys, manifestHeader(m), m.Payload, m.Seal)
	switch {
	case m.Bad != "":
		return Unreadable, "the manifest of the bundle: " + m.Bad
	case errors.Is(err, seal.ErrNoKey):
		return NoKey, "no key was given, so the manifest of the bundle cannot be verified"
	case errors.Is(err, seal.ErrUnknownKey):
		return UnknownKey, "the manifest of the bundle is " + err.Error()
	case errors.Is(err, seal.ErrFormat):
		return Unreadable, "the manifest of the bundle: " + err.Error()
	case err != nil:
		return Forged, "the manifest of the bundle was changed after it was signed, so runs may be missing: " + err.Error()
	}
	return Verified, ""
}
