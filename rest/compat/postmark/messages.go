package postmark

import (
	"maps"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/compat"
)

// recipient is a recipient of an email of our own API.
type recipient struct {
	Address    string  `json:"address"`
	State      string  `json:"state"`
	Diagnostic *string `json:"diagnostic"`
	SettledAt  *string `json:"settled_at"`
}

var eventTypes = map[string]string{"delivered": "Delivered", "bounced": "Bounced", "failed": "Bounced",
	"deferred": "Transient"}

type messageEvent struct {
	Recipient  string            `json:"Recipient"`
	Type       string            `json:"Type"`
	ReceivedAt *string           `json:"ReceivedAt"`
	Details    map[string]string `json:"Details"`
}

func getMessage(c *compat.Call) (*compat.Response, error) {
	var found struct {
		Email struct {
			ID          string       `json:"id"`
			From        string       `json:"from"`
			To          []string     `json:"to"`
			CC          []string     `json:"cc"`
			BCC         []string     `json:"bcc"`
			Subject     string       `json:"subject"`
			Status      string       `json:"status"`
			HTML        *string      `json:"html"`
			Text        *string      `json:"text"`
			Tags        []compat.Tag `json:"tags"`
			CreatedAt   string       `json:"created_at"`
			Recipients  []recipient  `json:"recipients"`
			Attachments []struct {
				Name string `json:"name"`
			} `json:"attachments"`
		} `json:"email"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: "/emails/" + url.PathEscape(c.Param("id"))},
		&found); err != nil {
		return nil, err
	}
	e := found.Email
	addresses, files, events := []string{}, []string{}, []messageEvent{}
	for _, r := range e.Recipients {
		addresses = append(addresses, r.Address)
		if kind := eventTypes[r.State]; kind != "" {
			event := messageEvent{Recipient: r.Address, Type: kind, ReceivedAt: r.SettledAt,
				Details: map[string]string{}}
			if r.Diagnostic != nil {
				event.Details["DeliveryMessage"] = *r.Diagnostic
			}
			events = append(events, event)
		}
	}
	for _, a := range e.Attachments {
		files = append(files, a.Name)
	}
	tag, metadata := "", map[string]string{}
	for _, t := range e.Tags {
		if t.Name == "tag" {
			tag = t.Value
			continue
		}
		metadata[t.Name] = t.Value
	}
	status := "Sent"
	if e.Status == "queued" || e.Status == "scheduled" {
		status = "Queued"
	}
	return compat.OK(map[string]any{"MessageID": e.ID, "From": e.From, "To": showAddresses(e.To),
		"Cc": showAddresses(e.CC), "Bcc": showAddresses(e.BCC), "Recipients": addresses, "Subject": e.Subject,
		"HtmlBody": e.HTML, "TextBody": e.Text, "Tag": tag, "Metadata": metadata, "ReceivedAt": e.CreatedAt,
		"Status": status, "Attachments": files, "MessageEvents": events, "MessageStream": "outbound"})
}

type shownAddress struct {
	Email string `json:"Email"`
	Name  string `json:"Name"`
}

func showAddresses(list []string) []shownAddress {
	out := []shownAddress{}
	for _, text := range list {
		shown := shownAddress{Email: text}
		if a, err := mail.ParseAddress(text); err == nil {
			shown = shownAddress{a.Address, a.Name}
		}
		out = append(out, shown)
	}
	return out
}

// suppression is a suppression of our own API. Its ID is the ID of the bounce at Postmark.
type suppression struct {
	ID        string  `json:"id"`
	Email     *string `json:"email"`
	EmailID   *string `json:"email_id"`
	Reason    string  `json:"reason"`
	CreatedAt string  `json:"created_at"`
}

func (s suppression) isBounce() bool {
	return s.Email != nil && (s.Reason == "bounce" || s.Reason == "failure" || s.Reason == "complaint")
}

type bounce struct {
	ID          string  `json:"ID"`
	Type        string  `json:"Type"`
	TypeCode    int     `json:"TypeCode"`
	Name        string  `json:"Name"`
	Email       string  `json:"Email"`
	MessageID   *string `json:"MessageID"`
	BouncedAt   string  `json:"BouncedAt"`
	Inactive    bool    `json:"Inactive"`
	CanActivate bool    `json:"CanActivate"`
}

func (s suppression) show() bounce {
	b := bounce{ID: s.ID, Type: "HardBounce", TypeCode: 1, Name: "Hard bounce", Email: *s.Email, MessageID: s.EmailID,
		BouncedAt: s.CreatedAt, Inactive: true, CanActivate: true}
	if s.Reason == "complaint" {
		b.Type, b.TypeCode, b.Name = "SpamComplaint", 100001, "Spam complaint"
	}
	return b
}

// listBounces lists the suppressed addresses that bounced or complained.
func listBounces(c *compat.Call) (*compat.Response, error) {
	count, offset := 0, 0
	var address, messageID, kind string
	var unsupported []string
	for _, name := range slices.Sorted(maps.Keys(c.Query)) {
		var err error
		switch text := c.Query.Get(name); name {
		case "count":
			count, err = strconv.Atoi(text)
		case "offset":
			offset, err = strconv.Atoi(text)
		case "emailFilter":
			address = api.QueryAddress(text)
		case "messageID":
			messageID = text
		case "type":
			kind = text
		default:
			unsupported = append(unsupported, name)
		}
		if err != nil {
			return nil, compat.Invalid(name, "must be a number")
		}
	}
	if len(unsupported) > 0 {
		return nil, compat.UnsupportedNames("Filtering bounces by", unsupported)
	}
	if count < 1 || count > 500 || offset < 0 || count+offset > 1000 {
		return nil, compat.Invalid("count", "must be between 1 and 500, and cannot exceed 1000 together with the offset")
	}
	keep := func(s suppression) bool {
		return s.isBounce() && (address == "" || strings.EqualFold(*s.Email, address)) && (kind == "" || s.show().Type == kind) &&
			(messageID == "" || s.EmailID != nil && *s.EmailID == messageID)
	}
	found, more, err := compat.Items(c, compat.ListRequest{Path: "/suppressions", Member: "suppressions",
		Name:  "suppressions",
		Limit: offset + count}, func(s suppression) string { return s.ID }, keep)
	if err != nil {
		return nil, err
	}
	total := len(found)
	if more {
		total++ // there are more items
	}
	out := []bounce{}
	for _, s := range found[min(offset, len(found)):] {
		out = append(out, s.show())
	}
	return compat.OK(map[string]any{"TotalCount": total, "Bounces": out})
}

func findBounce(c *compat.Call) (suppression, error) {
	var found struct {
		Suppression suppression `json:"suppression"`
	}
	err := c.Do(compat.Request{Method: http.MethodGet, Path: "/suppressions/" + url.PathEscape(c.Param("id"))}, &found)
	if err == nil && !found.Suppression.isBounce() {
		err = compat.NotFound("bounce")
	}
	return found.Suppression, err
}

func getBounce(c *compat.Call) (*compat.Response, error) {
	found, err := findBounce(c)
	if err != nil {
		return nil, err
	}
	return compat.OK(found.show())
}

// activateBounce removes the suppression.
func activateBounce(c *compat.Call) (*compat.Response, error) {
	found, err := findBounce(c)
	if err != nil {
		return nil, err
	}
	if err := c.Do(compat.Request{Method: http.MethodDelete, Path: "/suppressions/" + url.PathEscape(found.ID)},
		nil); err != nil {
		return nil, err
	}
	shown := found.show()
	shown.Inactive, shown.CanActivate = false, false
	return compat.OK(map[string]any{"Message": "OK", "Bounce": shown})
}
