package devinbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
)

func inboxOfTexts() *fakeInbox {
	return &fakeInbox{messages: []*ent.CapturedSMS{
		{ID: 2, ReceivedAt: time.Now(), MessageID: "sms_2", To: "+4915112345678", From: hostile,
			Text: hostile + strings.Repeat("€", 150), Encoding: "gsm7", Segments: 3},
		{ID: 1, ReceivedAt: time.Now(), MessageID: "sms_1", To: "+12125550123", Text: "Привет", Encoding: "ucs2", Segments: 1},
	}}
}

func TestTextMessagesAreShownWithTheirSegments(t *testing.T) {
	t.Parallel()
	h := pagesOver(inboxOfTexts())
	response, body := get(t, h, TextsPath)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d", TextsPath, response.StatusCode)
	}
	for _, want := range []string{"4915112345678", "GSM 7-bit · 3 segments", "UCS-2 · 1 segment ", "Привет", "sms_1",
		`aria-current="page">Text messages`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of text messages lacks %q", want)
		}
	}
	if strings.Contains(body, hostile) {
		t.Error("the page has the text of a stranger without escaping")
	}
	if n := strings.Count(body, "€"); n != 150 {
		t.Errorf("the parts have %d euros together, want 150", n)
	}
	if _, body := get(t, h, TextsPath+"?to=%2B1212"); strings.Contains(body, "sms_2") ||
		!strings.Contains(body, "sms_1") {
		t.Error("the filter by number does not choose the message")
	}
	if _, body := get(t, h, TextsPath+"?limit=1"); !strings.Contains(body, "/dev/inbox/sms?before=2") {
		t.Error("the first page has no link to the older messages")
	}
	if _, body := get(t, h, Prefix); !strings.Contains(body, `href="/dev/inbox/sms"`) {
		t.Error("the list of mail has no link to the text messages")
	}
}

func TestTextMessagesForScripts(t *testing.T) {
	t.Parallel()
	h := pagesOver(inboxOfTexts())
	response, body := get(t, h, TextsJSONPath+"?limit=1")
	var read struct {
		Texts []struct {
			MessageID string `json:"message_id"`
			Encoding  string
			Segments  int
		}
		HasMore bool `json:"has_more"`
	}
	if err := json.Unmarshal([]byte(body), &read); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", TextsJSONPath, response.StatusCode, err)
	}
	if len(read.Texts) != 1 || read.Texts[0].MessageID != "sms_2" || read.Texts[0].Encoding != "gsm7" ||
		read.Texts[0].Segments != 3 || !read.HasMore {
		t.Errorf("scripts see %+v, want the newest message with its encoding and segments, and that there are more",
			read)
	}
	if response, _ := get(t, h, TextsJSONPath+"?subject=x"); response.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown parameter is answered %d, want 400", response.StatusCode)
	}
}
