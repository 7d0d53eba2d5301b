package attachments

import (
	"mime"
	"testing"
)

func TestFilesAreServedAsTypesThatBrowsersDoNotRun(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string]string{"application/pdf": "application/pdf", "IMAGE/PNG": "image/png",
		"text/plain; charset=utf-16": "text/plain", "text/html": "application/octet-stream",
		"image/svg+xml": "application/octet-stream", "text/xml": "application/octet-stream",
		"application/xhtml+xml": "application/octet-stream", "text/javascript": "application/octet-stream",
		"": "application/octet-stream", "text/plain\r\nX-Evil: 1": "application/octet-stream"} {
		if got := safeType(declared); got != want {
			t.Errorf("a file of type %q is served as %q, want %q", declared, got, want)
		}
	}
}

func TestNamesOfFilesAreSafe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"invoice.pdf": "invoice.pdf", "../../etc/passwd": "passwd",
		`C:\evil.exe`: "evil.exe", "a\r\nSet-Cookie: x=1": "aSet-Cookie: x=1", `quo"te;.txt`: `quo"te;.txt`,
		"Grüße.txt": "Grüße.txt", "": "", "a\xff.txt": "a.txt"} {
		header := disposition(name)
		kind, fields, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || fields["filename"] != want {
			t.Errorf("a file %q is served with %q (%v), want an attachment with the name %q", name, header, err, want)
		}
	}
}
