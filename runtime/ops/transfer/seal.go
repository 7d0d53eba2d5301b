package transfer

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/base/secret"
)

// sealed is a column with a secret, sealed for a purpose. In the purpose, $1 is the account, and $2 the value of the
// column of.
type sealed struct {
	column, of, purpose string
	some                bool // only some rows contain a secret, and the source may have lost the key of older ones
}

// hashed is a column with the keyed hash of the column of, if that is known.
type hashed struct{ column, of, purpose string }

// errWrongSecret is the error of an import with another one-time key than that of the export.
var errWrongSecret = errors.New("this is not the one-time key of the file, which seals its secrets: " +
	"use the key that the export of this file has written")

// markOf identifies a one-time key, and reveals nothing about it.
func markOf(box *secret.Box) string {
	return hex.EncodeToString(box.Derive("mark of account files")[:8])
}

// openSecret returns the box of the one-time key.
func (o Options) openSecret() (*secret.Box, error) {
	if o.Secret == (secret.Key{}) {
		return nil, errors.New("the one-time key of the file is missing")
	}
	return secret.NewBox(o.Secret)
}

// keyChange seals the secrets of rows with another key.
type keyChange struct {
	from, to *secret.Box
	account  string
	rehash   bool // also compute hashes with the key of to
}

// rows changes lines with rows.
func (k keyChange) rows(t table, lines []byte) ([]byte, error) {
	if len(t.sealed) == 0 && (!k.rehash || t.hashed == hashed{}) {
		return lines, nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		changed, err := k.row(t, bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			return nil, err
		}
		out.Write(changed)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

func (k keyChange) row(t table, row []byte) ([]byte, error) {
	columns := map[string]json.RawMessage{}
	if err := json.Unmarshal(row, &columns); err != nil {
		return nil, fmt.Errorf("a row is not a JSON object: %w", err)
	}
	for _, s := range t.sealed {
		if err := k.reseal(s, columns); err != nil {
			return nil, err
		}
	}
	if k.rehash && t.hashed.column != "" {
		text, known, err := textOf(columns, t.hashed.of)
		if err != nil {
			return nil, err
		}
		if known && text != "" {
			h := hmac.New(sha256.New, k.to.Derive(t.hashed.purpose))
			h.Write([]byte(text))
			columns[t.hashed.column] = encodeBytes(h.Sum(nil))
		}
	}
	return json.Marshal(columns)
}

func (k keyChange) reseal(s sealed, columns map[string]json.RawMessage) error {
	text, known, err := textOf(columns, s.column)
	if err != nil || !known {
		return err
	}
	id, _, err := textOf(columns, s.of)
	if err != nil {
		return err
	}
	value, err := hex.DecodeString(strings.TrimPrefix(text, `\x`))
	if err != nil {
		return fmt.Errorf("%s is not binary", s.column)
	}
	if len(value) == 0 {
		return nil
	}
	purpose := []byte(strings.NewReplacer("$1", k.account, "$2", id).Replace(s.purpose))
	plain, err := k.from.Open(value, purpose)
	switch {
	case err != nil && s.some:
		return nil
	case err != nil:
		return fmt.Errorf("%s of %s: %w", s.column, cmp.Or(id, "a row"), err)
	}
	columns[s.column] = encodeBytes(k.to.Seal(plain, purpose))
	return nil
}

// textOf returns the text in a column, and false for null.
func textOf(columns map[string]json.RawMessage, column string) (string, bool, error) {
	var text *string
	if raw, has := columns[column]; has {
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", false, fmt.Errorf("%s is not a text", column)
		}
	}
	if text == nil {
		return "", false, nil
	}
	return *text, true, nil
}

// encodeBytes encodes a value like row_to_json.
func encodeBytes(value []byte) json.RawMessage {
	return json.RawMessage(`"\\x` + hex.EncodeToString(value) + `"`)
}
