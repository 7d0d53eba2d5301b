package app

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReleaseOnlyCleanReadOnlyPagesOfTheProgram(t *testing.T) {
	t.Parallel()
	const program = "/opt/mail server/postrider"
	mappings := `00400000-0285c000 r-xp 00000000 fe:00 1033  ` + program + `
Rss:               29384 kB
Anonymous:             0 kB
0285c000-0555e000 r--p 0245c000 fe:00 1033  ` + program + `
Rss:               35420 kB
Anonymous:             0 kB
0555e000-0555f000 r--p 0515e000 fe:00 1033  ` + program + `
Rss:                   4 kB
Anonymous:             4 kB
0555f000-05880000 rw-p 0515f000 fe:00 1033  ` + program + `
Rss:                2764 kB
Anonymous:             0 kB
05880000-078fe000 rw-p 00000000 00:00 0 
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 00:00 0 
Anonymous:             0 kB
7fe67d600000-7fe67d6c3000 r--p 00000000 fe:00 2120  /usr/lib/x86_64-linux-gnu/libcrypto.so.3
Anonymous:             0 kB
`
	want := []addressRange{{0x400000, 0x285c000}, {0x285c000, 0x555e000}}
	got := findCleanRanges(mappings, program)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(addressRange{})); diff != "" {
		t.Errorf("clean read-only mappings (-want +got):\n%s", diff)
	}
}

func TestProgramRunsAfterItsPagesAreReleased(t *testing.T) {
	t.Parallel()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if len(findCleanRanges(string(mappings), program)) == 0 {
		t.Errorf("no clean mapping of %s in:\n%s", program, mappings)
	}
	if err := releaseProgramPages(); err != nil {
		t.Errorf("release the pages: %v", err)
	}
}
