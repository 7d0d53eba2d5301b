package received

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/rest/api/wire"
)

func TestAListStaysSmallWhateverSendersWrite(t *testing.T) {
	t.Parallel()
	var names []string
	var files []shape.ReceivedFile
	for i := range 100 {
		names = append(names, fmt.Sprintf("%d-%s", i, strings.Repeat("x", 1000)))
		files = append(files, shape.ReceivedFile{Filename: names[i]})
	}
	hostile := &ent.ReceivedEmail{To: names, Cc: names, ReplyTo: names, References: names, Defects: names,
		Attachments: files}
	item := newReceivedItem(hostile)
	encoded, err := json.Marshal(item)
	if err != nil {
		t.Fatalf("encode the item: %v", err)
	}
	if len(encoded) > 64<<10 {
		t.Errorf("an email with 100 long names in each of its lists takes %d bytes among others, want less than 64 KiB",
			len(encoded))
	}
	if item.AttachmentCount != 100 {
		t.Errorf("it has attachment_count %d, want 100", item.AttachmentCount)
	}
	if n := len(item.References); n == 0 || item.References[n-1] != names[99] {
		t.Errorf("its references end with something else than the last one: %d of them are shown", n)
	}
	if hostile.References[0] != names[0] {
		t.Error("the record itself was changed")
	}

	usual := &ent.ReceivedEmail{To: []string{"a@example.com"}, References: []string{"1@x", "2@x"},
		Attachments: []shape.ReceivedFile{{Filename: "one.pdf"}}}
	if diff := cmp.Diff(receivedItem{newReceivedHead(usual), receivedFiles(usual.Attachments)}, newReceivedItem(usual),
		cmp.Comparer(func(a, b wire.Time) bool { return time.Time(a).Equal(time.Time(b)) })); diff != "" {
		t.Errorf("an ordinary email has lost something among others (-want +got):\n%s", diff)
	}
}
