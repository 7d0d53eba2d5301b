package journeys_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/blob/blobtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// fileLink is the response of an operation that returns a link to an attachment.
type fileLink struct {
	Attachment struct {
		Name        string
		Size        int
		DownloadURL string    `json:"download_url"`
		ExpiresAt   time.Time `json:"expires_at"`
	}
}

// download gets a link without a credential.
func download(t *testing.T, method, url string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got, body
}

// wantFile gets the link of an attachment, and then its content.
func wantFile(t *testing.T, app *harness.App, path, name, kind string, want []byte) string {
	t.Helper()
	var link fileLink
	app.Do(t, http.MethodGet, path, nil).JSON(t, &link)
	a := link.Attachment
	if a.Name != name || a.Size != len(want) || time.Until(a.ExpiresAt) > time.Hour ||
		time.Until(a.ExpiresAt) < 50*time.Minute {
		t.Errorf("%s is %+v, want %s with %d bytes for an hour", path, a, name, len(want))
	}
	got, body := download(t, http.MethodGet, a.DownloadURL)
	if got.StatusCode != http.StatusOK || !bytes.Equal(body, want) {
		t.Errorf("the link of %s returned %d and %d bytes, want %d bytes", path, got.StatusCode, len(body), len(want))
	}
	for header, want := range map[string]string{"Content-Type": kind, "X-Content-Type-Options": "nosniff",
		"Content-Disposition": "attachment; filename=" + name, "Referrer-Policy": "no-referrer",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "private, no-store"} {
		if value := got.Header.Get(header); value != want {
			t.Errorf("the link of %s has the header %s: %q, want %q", path, header, value, want)
		}
	}
	return a.DownloadURL
}

func wantNoFile(t *testing.T, what, method, url string, status int) {
	t.Helper()
	if got, body := download(t, method, url); got.StatusCode != status {
		t.Errorf("%s returned %d %s, want %d", what, got.StatusCode, body, status)
	}
}

// Attachments of sent, relayed and received emails can be read with links that need no API key, and that become
// invalid when the email is deleted.
func TestAttachmentsAreReadBySignedLinks(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	large := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	sent := send(t, app, fmt.Sprintf(`{"from":"ada@dev.test","to":"bob@example.net","subject":"Files","text":"Hi",`+
		`"attachments":[{"name":"page.html","data":%q},{"name":"large.bin","data":%q}]}`,
		base64.StdEncoding.EncodeToString([]byte("<script>alert(1)</script>")), base64.StdEncoding.EncodeToString(large)))
	link := wantFile(t, app, "/api/emails/"+sent+"/attachments/0", "page.html", "application/octet-stream",
		[]byte("<script>alert(1)</script>"))
	wantFile(t, app, "/api/emails/"+sent+"/attachments/1", "large.bin", "application/octet-stream", large)
	for _, index := range []string{"2", "9999"} {
		if got := app.Do(t, http.MethodGet, "/api/emails/"+sent+"/attachments/"+index, nil); got.Status != http.StatusNotFound {
			t.Errorf("attachment %s of two: %d %s, want 404", index, got.Status, got.Body)
		}
	}

	relayed := signIn(t, app).mustRelay("ada@dev.test", []string{"bob@example.net"}, "From: ada@dev.test\n"+
		"To: bob@example.net\nSubject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"+
		"Content-Type: text/plain\n\nHi\n--b\nContent-Type: application/pdf; name=a.pdf\n"+
		"Content-Disposition: attachment\nContent-Transfer-Encoding: base64\n\naGVs\nbG8=\n--b--\n")
	wantFile(t, app, "/api/emails/"+relayed+"/attachments/0", "a.pdf", "application/pdf", []byte("hello"))

	receive(t, app, "support@dev.test", questionMessage)
	received := lastReceived(t, app)
	receivedLink := wantFile(t, app, "/api/received-emails/"+received+"/attachments/0", "order.pdf", "application/pdf",
		[]byte("%PDF-1.7\n%%EOF"))

	other := byte('A')
	if link[len(link)-1] == other {
		other = 'B'
	}
	wantNoFile(t, "a forged link", http.MethodGet, link[:len(link)-1]+string(other), http.StatusNotFound)
	wantNoFile(t, "a link of a sent file below another prefix", http.MethodGet,
		strings.Replace(link, "/sent/", "/received/", 1), http.StatusNotFound)
	wantNoFile(t, "a POST", http.MethodPost, link, http.StatusMethodNotAllowed)
	if got, body := download(t, http.MethodHead, link); got.StatusCode != http.StatusOK || len(body) != 0 {
		t.Errorf("HEAD returned %d and %d bytes, want 200 without a body", got.StatusCode, len(body))
	}
	app.Do(t, http.MethodDelete, "/api/received-emails/"+received, nil)
	wantNoFile(t, "the link of a deleted email", http.MethodGet, receivedLink, http.StatusGone)
}

// A file that has moved to the object store is read from there.
func TestMovedAttachmentsAreReadBySignedLinks(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	s := scenarioOf(t, harness.Start(t, func(settings setting.RawValues) {
		settings["POSTRIDER_BLOBS"], settings["POSTRIDER_BLOBS_SENT_AFTER"] = store.Setting(), "10s"
	}))
	s.MailDomain(t, "bob.test")
	file := bytes.Repeat([]byte("0123456789abcdef"), 30_000)
	id := s.sendMessage(t, []string{"bob@bob.test"}, `"html":"<p>Hi</p>"`,
		`"attachments":[{"name":"a.bin","data":"`+base64.StdEncoding.EncodeToString(file)+`"}]`)
	harness.Eventually(t, "the file is in the store", func() bool {
		var n int
		if err := s.db.QueryRowContext(t.Context(),
			`SELECT count(*) FROM attachments WHERE object_key IS NOT NULL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 1
	})
	link := wantFile(t, s.App, "/api/emails/"+id+"/attachments/0", "a.bin", "application/octet-stream", file)
	store.Fault(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadGateway) })
	wantNoFile(t, "a link while the store is unavailable", http.MethodGet, link, http.StatusServiceUnavailable)
}
