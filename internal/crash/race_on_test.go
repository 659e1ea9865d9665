//go:build unix && race

package crash

const raceDetector = true
