package sending

import (
	"fmt"
	"testing"
)

func TestRecipientsCountOnce(t *testing.T) {
	t.Parallel()
	m := Message{From: Mailbox{Text: "a@dev.test"}, Subject: "S", Text: "T"}
	for i := range MaxRecipients {
		m.To = append(m.To, Mailbox{Text: fmt.Sprintf("user%d@example.net", i)})
		m.CC = append(m.CC, Mailbox{Text: fmt.Sprintf("User%d@EXAMPLE.net", i)})
	}
	if wrong := m.Validate(); len(wrong) > 0 {
		t.Errorf("%d addresses, each given twice, returned %v", MaxRecipients, wrong)
	}
	m.BCC = []Mailbox{{Text: "one-more@example.net"}}
	if wrong := m.Validate(); wrong["to"] == "" {
		t.Errorf("%d different addresses were accepted, want at most %d", MaxRecipients+1, MaxRecipients)
	}
}

func TestContentIDsMustBeUnique(t *testing.T) {
	t.Parallel()
	file := func(id string) Attachment { return Attachment{Name: "a.png", Data: []byte("x"), ContentID: id} }
	m := Message{From: Mailbox{Text: "a@dev.test"}, To: []Mailbox{{Text: "b@example.net"}}, Subject: "S", HTML: "<p>",
		Attachments: []Attachment{file("logo"), file(""), file("<logo>"), file("")}}
	if wrong := m.Validate(); len(wrong) != 1 || wrong["attachments[2].content_id"] == "" {
		t.Errorf("invalid fields %v, want attachments[2].content_id", wrong)
	}
}
