package bimi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Selector is the selector of the record that receivers use by default.
const Selector = "default"

// The states of a finding.
const (
	Met     = "met"
	Close   = "close"
	Broken  = "broken"
	Unknown = "unknown"
)

// Finding is the result of one check.
type Finding = shape.RecordFinding

const (
	maxLogo        = 32 << 10
	maxCertificate = 256 << 10
	fetchTimeout   = 8 * time.Second
	maxText        = 80 // characters of a file in a finding
)

// Checker fetches and checks logos and certificates. It is safe for concurrent use.
type Checker struct {
	client *http.Client
	now    func() time.Time
}

// New returns a new Checker. The client must be one of package egress.
func New(client *http.Client) *Checker { return &Checker{client: client, now: clock.Now} }

// Check returns the findings about the logo and, unless its URL is empty, the certificate.
func (c *Checker) Check(ctx context.Context, domain, logoURL, certificateURL string) []Finding {
	logo, finding := c.fetch(ctx, "logo", logoURL, maxLogo)
	findings := []Finding{finding}
	if finding.State != Broken {
		findings = append(findings, checkLogo(logo)...)
	}
	if certificateURL == "" {
		return append(findings, Finding{Code: "certificate", State: Close,
			Found: "There is no mark certificate. Gmail and Apple Mail show only logos with one.",
			Fix:   "Obtain a mark certificate (VMC or CMC) for the logo, and set its URL."})
	}
	file, finding := c.fetch(ctx, "certificate", certificateURL, maxCertificate)
	if finding.State == Broken {
		return append(findings, finding)
	}
	return append(findings, checkCertificate(file, domain, logo, c.now())...)
}

// fetch returns a file, decompressed if it is a compressed logo, and the finding about it.
func (c *Checker) fetch(ctx context.Context, code, url string, limit int) ([]byte, Finding) {
	broken := func(fix, found string, args ...any) Finding {
		return Finding{Code: code, State: Broken, Found: fmt.Sprintf(found, args...), Fix: fix}
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, broken("Correct the URL.", "The URL of the %s is invalid.", code)
	}
	request.Header.Set("User-Agent", "Postrider BIMI check")
	response, err := c.client.Do(request)
	if err != nil {
		if errors.Is(err, egress.ErrRefused) {
			return nil, broken("Publish the file on a public server.", "The host of the %s has a private address.", code)
		}
		return nil, broken("Check the host, its DNS records and its certificate.", "The server of the %s cannot be reached over HTTPS.",
			code)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, broken("Publish the file at exactly this URL, without a redirect.", "The server of the %s responds with status %d.",
			code, response.StatusCode)
	}
	body, err := readLimited(response.Body, limit)
	if err == nil && code == "logo" {
		body, err = decompress(body, limit)
	}
	switch {
	case errors.Is(err, errTooLarge):
		return nil, broken(fmt.Sprintf("Reduce the file to at most %d KiB.", limit>>10), "The %s has more than %d KiB.", code, limit>>10)
	case err != nil:
		return nil, broken("Check that the server delivers the whole file within a few seconds.", "The %s could not be read.", code)
	}
	finding := Finding{Code: code, State: Met, Found: fmt.Sprintf("The %s has %d bytes.", code, len(body))}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if code == "logo" && kind != "image/svg+xml" {
		finding.State = Close
		finding.Found = fmt.Sprintf("The server delivers the logo as %s.", quote(kind))
		finding.Fix = "Configure the server to deliver the logo as image/svg+xml."
	}
	return body, finding
}

var errTooLarge = errors.New("too large")

func readLimited(r io.Reader, limit int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if len(body) > limit {
		return nil, errTooLarge
	}
	return body, err
}

// decompress returns the content of a gzip file, such as .svgz, and other data unchanged.
func decompress(data []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return readLimited(r, limit)
}

// quote returns text of a file for a sentence.
func quote(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
