package engine

import (
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// The functions of this file say which columns of a row its signature covers:
// all of them but those that the contract calls hints.

func checkpointHeader(c stores.Checkpoint) seal.Header {
	h := placeHeader(seal.KindCheckpoint, c.Place)
	h.Step, h.Base, h.Segment = c.Step, c.Base, c.Segment
	h.RunKind, h.Flow, h.Digest, h.Status = c.Kind, c.Flow, c.Digest, string(c.Status)
	h.User, h.Thread, h.Principal = c.User, c.Thread, c.Principal
	h.Calls, h.Events, h.Time, h.Prev = c.Calls, c.Events, micros(c.Time), c.Prev
	return h
}

func headHeader(c stores.Head) seal.Header {
	h := placeHeader(seal.KindHead, c.Place)
	h.Step, h.Base, h.Segment = c.Step, c.Base, c.Segment
	h.RunKind, h.Flow, h.Digest, h.Status = c.Kind, c.Flow, c.Digest, string(c.Status)
	h.User, h.Thread, h.Principal = c.User, c.Thread, c.Principal
	h.Created, h.Time, h.Prev = micros(c.Created), micros(c.Updated), c.Prev
	return h
}

func callHeader(c stores.Call) seal.Header {
	h := placeHeader(seal.KindCall, c.Place)
	h.Step, h.Segment, h.N = c.Step, c.Segment, c.N
	h.Node, h.Ordinal, h.Tool, h.Idempotent = c.Node, c.Ordinal, c.Tool, c.Idempotent
	h.Status, h.Time, h.Prev = string(c.Status), micros(c.Time), c.Prev
	return h
}

func eventHeader(e stores.Event) seal.Header {
	h := placeHeader(seal.KindEvent, e.Place)
	h.Step, h.N, h.Type = e.Step, e.N, e.Type
	h.Time, h.Prev = micros(e.Time), e.Prev
	return h
}

func placeHeader(kind seal.Kind, p stores.Place) seal.Header {
	return seal.Header{Kind: kind, Store: p.Store, Owner: p.Owner, Run: p.Run, Incarnation: p.Incarnation}
}

// sign fills a row's seal. The header must already hold the row's Prev.
func sign(keys *seal.Keyring, h seal.Header, payload []byte) (stores.Seal, error) {
	s, err := keys.Sign(h, payload)
	return stores.Seal{Format: s.Format, KeyID: s.KeyID, Prev: h.Prev, MAC: s.MAC}, err
}

func check(keys *seal.Keyring, h seal.Header, payload []byte, s stores.Seal) error {
	return keys.Check(h, payload, seal.Signature{Format: s.Format, KeyID: s.KeyID, MAC: s.MAC})
}

// CheckHead verifies one head's signature, for lists.
func CheckHead(keys *seal.Keyring, h stores.Head) error {
	return check(keys, headHeader(h), h.Payload, h.Seal)
}
