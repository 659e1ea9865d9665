//go:build unix

package crash

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"
)

// journal is a file to which every process appends what must not be forgotten:
// the writes that the store acknowledged, and what happened to the process. A
// line is one write, so it survives the SIGKILL of its writer as a whole.
type journal struct{ file *os.File }

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &journal{f}, err
}

// note writes one line. A test without its journal would show nothing, so the
// process ends when that fails.
func (j *journal) note(words ...any) {
	if _, err := j.file.WriteString(fmt.Sprintln(words...)); err != nil {
		log.Fatal(err)
	}
}

// readJournal returns the lines, in words.
func readJournal(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines [][]string
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		lines = append(lines, strings.Fields(scan.Text()))
	}
	return lines, scan.Err()
}
