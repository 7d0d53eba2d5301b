package emails

import (
	"testing"

	"github.com/postrider/postrider/modules/sending"
)

func TestReceiptNamesSuppressedRecipients(t *testing.T) {
	t.Parallel()
	blocked := sending.Receipt{ID: "msg_1", Status: "failed", Suppressed: []string{"bob@dev.test"}}
	sent := sending.Receipt{ID: "msg_2", Status: "sent"}
	for want, got := range map[string][]byte{
		`{"id":"msg_1","status":"failed","suppressed_recipients":["bob@dev.test"]}`: Render(blocked).Body,
		`{"id":"msg_2","status":"sent"}`:                                            Render(sent).Body,
		`{"data":[{"index":0,"id":"msg_1","status":"failed","suppressed_recipients":["bob@dev.test"]},` +
			`{"index":1,"id":"msg_2","status":"sent"}]}`: renderBatch([]sending.BatchResult{{Receipt: blocked},
			{Receipt: sent}}, "req").Body,
	} {
		if string(got) != want {
			t.Errorf("the response is %s, want %s", got, want)
		}
	}
}
