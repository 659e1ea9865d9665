// Package draw owns drawings of flows: as text, as a Mermaid flowchart and as
// an SVG picture. Names and conditions come from files that others wrote; in
// every format they stay text and do nothing.
//
// It may import viewer, engine and engine/teff.
package draw
