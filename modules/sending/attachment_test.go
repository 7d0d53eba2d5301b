package sending

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wrongWithFile returns the validation errors of a message with the attachment.
func wrongWithFile(f Attachment) map[string]string {
	m := simpleMessage("bob@example.net")
	m.Attachments = []Attachment{f}
	return m.Validate()
}

func TestRejectsScriptAttachments(t *testing.T) {
	t.Parallel()
	for ext := range strings.FieldsSeq(`sh bash zsh fish csh ksh command run py pyc pl rb php lua tcl psm1 psd1 scpt applescript xll ocx jnlp application
		apk ipa deb rpm dmg pkg appimage wasm class lnk url desktop service jar dll iso img vhd vhdx msix appx exe bat js vbs`) {
		for _, name := range []string{"a." + ext, "A." + strings.ToUpper(ext), "invoice.pdf." + ext + ". ",
			"../x/y." + ext} {
			if wrong := wrongWithFile(Attachment{Name: name, Data: []byte("x")}); wrong["attachments[0].name"] == "" {
				t.Errorf("the file %q was accepted, want it rejected for its extension", name)
			}
		}
		if !slices.Contains(BlockedExtensions(), ext) {
			t.Errorf("BlockedExtensions lacks %q, which is rejected", ext)
		}
	}
	for _, name := range []string{"report.pdf", "notes.md", "photo.jpeg", "run", "sh", "calendar.ics"} {
		if wrong := wrongWithFile(Attachment{Name: name, Data: []byte("x")}); len(wrong) > 0 {
			t.Errorf("the file %q was rejected: %v", name, wrong)
		}
	}
}

func TestEmptyAttachmentIsAccepted(t *testing.T) {
	t.Parallel()
	if wrong := wrongWithFile(Attachment{Name: "empty.txt", Data: []byte{}}); len(wrong) > 0 {
		t.Errorf("an empty file was rejected: %v", wrong)
	}
	if wrong := wrongWithFile(Attachment{Name: "missing.txt"}); wrong["attachments[0].data"] != "is required" {
		t.Errorf("a file without data returned %v, want an error that data is required", wrong)
	}
}

func TestAttachmentNameKeepsLastElement(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"../../etc/passwd": "passwd", `C:\Users\ada\report.pdf`: "report.pdf", "/a/b/c.txt": "c.txt",
		"plain.txt": "plain.txt", "folder/": "folder", "a/..b": "..b",
	} {
		m := simpleMessage("bob@example.net")
		m.Attachments = []Attachment{{Name: given, Data: []byte("x")}}
		p, wrong := m.parse(time.Now())
		if len(wrong) > 0 || p.Attachments[0].Name != want {
			t.Errorf("the name %q became %q with errors %v; want %q", given, p.Attachments[0].Name, wrong, want)
		}
	}
	for _, name := range []string{"/", "..", "a/..", `..\`, ".", "a/. "} {
		want := map[string]string{"attachments[0].name": "must name a file, not a folder"}
		if diff := cmp.Diff(want, wrongWithFile(Attachment{Name: name, Data: []byte("x")})); diff != "" {
			t.Errorf("the name %q returned unexpected errors:\n%s", name, diff)
		}
	}
}

func TestBlocksDisguisedExtensions(t *testing.T) {
	t.Parallel()
	for name, blocked := range map[string]bool{
		"setup.exe": true, "SETUP.EXE": true, "invoice.pdf.exe": true, "a.exe. ": true, "a.exe/": true, "a.exe\\": true,
		"a.exe\u200b": true, "a.ex\u200de": true, "a. exe": true, "disk.iso": true, "script.ps1": true,
		"a.exe:stream": true, "a.exe::$DATA": true, "a.txt:b.exe": true, "shell.php;.jpg": true, "a.ｅｘｅ": true, "ａ．ＥＸＥ": true,
		"a.exe:.. ": true, "a;b.pdf": false, "10:30 plan.txt": false,
		"invoice.pdf": false, "exe": false, "notes.txt": false, "a.exe.txt": false, "": false,
	} {
		if got := isBlockedExtension(name); got != blocked {
			t.Errorf("isBlockedExtension(%q) = %v, want %v", name, got, blocked)
		}
	}
}
