package emails

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api/body"
)

func TestFindingA5EveryAliasOfASendIsKnown(t *testing.T) {
	t.Parallel()
	send := sendBody(new(sending.Message)).Aliases()
	for alias, want := range map[string]string{"htmlBody": "html", "html_body": "html", "html": "html",
		"textBody": "text", "text_body": "text", "plain_body": "text",
		"replyTo": "reply_to", "scheduledAt": "scheduled_at"} {
		if got := send.First[alias]; got != want {
			t.Errorf("the alias %s stands for %q, want %q", alias, got, want)
		}
	}
	for alias, want := range map[string]string{"filename": "name", "contentType": "content_type", "content": "data",
		"contentId": "content_id"} {
		if got := send.Within["attachments"].First[alias]; got != want {
			t.Errorf("the alias %s of an attachment stands for %q, want %q", alias, got, want)
		}
	}
	if diff := cmp.Diff(map[string]bool{"to": true, "cc": true, "bcc": true, "reply_to": true},
		send.OneOrMany); diff != "" {
		t.Errorf("the fields that have an address or a list of them (-want +got):\n%s", diff)
	}
	batch := batchBody(new(batchInput)).Aliases()
	if diff := cmp.Diff(map[string]*body.Names{"emails": send}, batch.Within); diff != "" {
		t.Errorf("the aliases in a batch are not those of a send (-want +got):\n%s", diff)
	}
}
