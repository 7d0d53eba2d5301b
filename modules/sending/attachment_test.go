package sending

import "testing"

func TestBlockedExtensionIsSeenThroughDisguise(t *testing.T) {
	t.Parallel()
	for name, blocked := range map[string]bool{
		"setup.exe": true, "SETUP.EXE": true, "invoice.pdf.exe": true, "a.exe. ": true, "a.exe/": true, "a.exe\\": true,
		"a.exe\u200b": true, "a.ex\u200de": true, "a. exe": true, "disk.iso": true, "script.ps1": true,
		"invoice.pdf": false, "exe": false, "notes.txt": false, "a.exe.txt": false, "": false,
	} {
		if got := isBlockedExtension(name); got != blocked {
			t.Errorf("isBlockedExtension(%q) = %v, want %v", name, got, blocked)
		}
	}
}
