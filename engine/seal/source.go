package seal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxKeyFile is more than any file of keys has.
const maxKeyFile = 64 << 10

// ReadFile reads the keys from a file, see [ParseKeyring]. Its errors never
// show what was read.
func ReadFile(path string) (*Keyring, error) {
	data, err := readSome(path)
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", path, err)
	}
	r, err := ParseKeyring(data)
	clear(data)
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", path, err)
	}
	return r, nil
}

func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var data []byte
		data, err = io.ReadAll(io.LimitReader(f, maxKeyFile+1))
		if err == nil && len(data) > maxKeyFile {
			err = fmt.Errorf("it has more than %d bytes", maxKeyFile)
		}
		if err == nil {
			return data, nil
		}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // the path is named already
	}
	return nil, err
}

// ReadEnv reads the keys from an environment variable, see [ParseKeyring], and
// takes it out of the environment: the programs that tools start must not
// inherit it. Its errors never show what was read.
func ReadEnv(name string) (*Keyring, error) {
	text, ok := os.LookupEnv(name)
	if !ok {
		return nil, fmt.Errorf("variable %s: it is not set", name)
	}
	if err := os.Unsetenv(name); err != nil {
		return nil, fmt.Errorf("variable %s: %w", name, err)
	}
	r, err := ParseKeyring([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", name, err)
	}
	return r, nil
}
