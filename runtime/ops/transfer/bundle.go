package transfer

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	format        = "postrider-account"
	formatVersion = 1
	moveVersion   = 2 // with unfinished work, which earlier programs cannot import
	baseVersion   = 3 // a base, or the difference to one

	manifestName = "manifest.json"
	endName      = "end.json"
	tablesFolder = "tables/"
	objectFolder = "objects/"
	unitFolder   = "replaced/" // ids of units that a difference replaces, by group

	partSize = 4 << 20 // bytes of rows in a part, unless a single row is larger
	maxPart  = 256 << 20
	maxRest  = 1 << 20 // bytes after the last entry
)

// Manifest describes a file.
type Manifest struct {
	Format      string              `json:"format"`
	Version     int                 `json:"version"`
	AccountID   string              `json:"account_id"`
	Email       string              `json:"email"` // of the account
	ExportedAt  time.Time           `json:"exported_at"`
	Program     string              `json:"program"`        // version of the program that wrote the file
	Schema      string              `json:"schema"`         // the latest migration
	Key         string              `json:"key"`            // identifies the one-time key
	Columns     map[string][]string `json:"columns"`        // by table
	Credentials bool                `json:"credentials"`    // passwords, passkeys and other ways to sign in are included
	Move        string              `json:"move,omitempty"` // id of the move whose code starts the account
	Base        string              `json:"base,omitempty"` // the base that the file is (without Move) or completes

	// StatisticsMark is the id of the first event that the statistics do not contain. It may be of another account. It
	// is nil in files of older programs, whose statistics contain all events.
	StatisticsMark *string `json:"statistics_mark,omitempty"`
}

// CopyID returns the id of the move in the frozen copy that an import of the file creates; "" for the file of a copy
// that works.
func (m *Manifest) CopyID() string { return cmp.Or(m.Move, m.Base) }

func (m *Manifest) isBase() bool { return m.Base != "" && m.Move == "" }

func (m *Manifest) isDifference() bool { return m.Base != "" && m.Move != "" }

// End is the last entry of a file.
type End struct {
	Rows       map[string]int64  `json:"rows"`    // by table
	Objects    int64             `json:"objects"` // bodies and attachments
	SHA256     map[string]string `json:"sha256"`  // by the name of an entry
	Unfinished Unfinished        `json:"unfinished"`
}

// Unfinished counts the work in progress, which stays at the source.
type Unfinished struct {
	Emails            int64 `json:"emails"`
	AutomationRuns    int64 `json:"automation_runs"`
	WebhookDeliveries int64 `json:"webhook_deliveries"`
	TextMessages      int64 `json:"text_messages"`
}

// bundleWriter writes the entries of a file.
type bundleWriter struct {
	zip *zstd.Encoder
	tar *tar.Writer
	now time.Time
	end End
}

func newBundleWriter(w io.Writer, now time.Time) (*bundleWriter, error) {
	zip, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	return &bundleWriter{zip: zip, tar: tar.NewWriter(zip), now: now,
		end: End{Rows: map[string]int64{}, SHA256: map[string]string{}}}, nil
}

func (b *bundleWriter) add(name string, content []byte) error {
	err := b.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: b.now,
		Typeflag: tar.TypeReg})
	if err == nil {
		_, err = b.tar.Write(content)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	sum := sha256.Sum256(content)
	b.end.SHA256[name] = hex.EncodeToString(sum[:])
	return nil
}

func (b *bundleWriter) addJSON(name string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return b.add(name, append(content, '\n'))
}

// partWriter collects the rows of a table, and writes them in parts.
type partWriter struct {
	to   *bundleWriter
	name string // of the entries, without the number
	part int
	rows bytes.Buffer
}

func (p *partWriter) addRow(row []byte) error {
	if p.rows.Len() > 0 && p.rows.Len()+len(row) > partSize {
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.rows.Write(row)
	p.rows.WriteByte('\n')
	p.to.end.Rows[strings.TrimPrefix(p.name, tablesFolder)]++
	return nil
}

func (p *partWriter) flush() error {
	if p.rows.Len() == 0 {
		return nil
	}
	p.part++
	err := p.to.add(fmt.Sprintf("%s/%d.jsonl", p.name, p.part), p.rows.Bytes())
	p.rows.Reset()
	return err
}

// close writes the last entry. Without it the file is incomplete.
func (b *bundleWriter) close() error {
	if err := b.addJSON(endName, b.end); err != nil {
		return err
	}
	if err := b.tar.Close(); err != nil {
		return err
	}
	return b.zip.Close()
}

// bundleReader reads the entries of a file, and checks them.
type bundleReader struct {
	zip  *zstd.Decoder
	tar  *tar.Reader
	sums map[string]string
}

func newBundleReader(r io.Reader) (*bundleReader, error) {
	zip, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return nil, err
	}
	return &bundleReader{zip: zip, tar: tar.NewReader(zip), sums: map[string]string{}}, nil
}

// next returns the next entry, or io.EOF.
func (b *bundleReader) next() (name string, content []byte, err error) {
	header, err := b.tar.Next()
	if err == io.EOF { //nolint:errorlint // returned as is
		return "", nil, io.EOF
	}
	if err != nil {
		return "", nil, fmt.Errorf("not a file of postrider admin account export, or damaged: %w", err)
	}
	if header.Typeflag != tar.TypeReg || header.Size > maxPart {
		return "", nil, fmt.Errorf("%q is not an entry of an account's file", header.Name)
	}
	if _, twice := b.sums[header.Name]; twice {
		return "", nil, fmt.Errorf("%q occurs twice", header.Name)
	}
	if content, err = io.ReadAll(b.tar); err != nil {
		return "", nil, fmt.Errorf("%s is damaged: %w", header.Name, err)
	}
	sum := sha256.Sum256(content)
	b.sums[header.Name] = hex.EncodeToString(sum[:])
	return header.Name, content, nil
}

func (b *bundleReader) close() { b.zip.Close() }

// end reads the end of the file, so that its writer has written it whole.
func (b *bundleReader) end() error {
	rest, err := io.Copy(io.Discard, io.LimitReader(b.zip, maxRest+1))
	if err == nil && rest > maxRest {
		err = errors.New("more data follows")
	}
	if err != nil {
		return fmt.Errorf("the end of the file is damaged: %w", err)
	}
	return nil
}

// check compares what was read with the last entry.
func (b *bundleReader) check(end End, rows map[string]int64, objects int64) error {
	delete(b.sums, endName)
	if len(end.SHA256) != len(b.sums) {
		return fmt.Errorf("the file has %d entries, and %s lists %d", len(b.sums), endName, len(end.SHA256))
	}
	for name, sum := range end.SHA256 {
		if b.sums[name] != sum {
			return fmt.Errorf("%s is damaged", name)
		}
	}
	for table, n := range end.Rows {
		if rows[table] != n {
			return fmt.Errorf("the table %s has %d rows, and %s lists %d", table, rows[table], endName, n)
		}
	}
	if objects != end.Objects {
		return fmt.Errorf("the file has %d objects, and %s lists %d", objects, endName, end.Objects)
	}
	return nil
}
