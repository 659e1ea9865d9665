// Package bundle owns bundle files: whole runs of one store in one file, under a
// signed manifest, that open like a store and can only be read. It writes and
// reads the file; it knows no key, so who opens a bundle checks the manifest
// and the rows. The form is written down in docs/store-format.md.
//
// Damage to one run is told with that run alone. When the manifest itself is
// damaged the runs are found by their lines, and that is told with the manifest.
package bundle
