package definition

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/runtime/mail/address"
)

var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// CEL cannot parse steps.in, and Liquid defines first, last and size on every object.
var reservedKeys = []string{"in", "true", "false", "null", "first", "last", "size"}

func checkKey(key string) error {
	switch {
	case !keyForm.MatchString(key):
		return errors.New("must start with a letter a-z and have at most 40 characters of a-z, 0-9 and _")
	case slices.Contains(reservedKeys, key):
		return errors.New("is a reserved word of the expression languages; choose another key")
	}
	return nil
}

// CheckEventName validates the name of an event that a caller sends.
func CheckEventName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return errors.New("cannot be empty")
	case n > MaxName:
		return fmt.Errorf("has %d characters; the limit is %d", n, MaxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("cannot contain control characters")
	case strings.TrimSpace(name) != name:
		return errors.New("cannot begin or end with white space")
	case strings.HasPrefix(name, "$"):
		return errors.New("cannot start with $, which is reserved for built-in events")
	}
	return nil
}

// BuiltInEvents are the built-in events that an automation may listen to. The name is $ and the type of the fact.
var BuiltInEvents = []string{"$contact.unsubscribed", "$email.bounced", "$email.clicked", "$email.delivered",
	"$email.opened", "$email.received"}

// CheckListened validates the name of an event that an automation listens to.
func CheckListened(name string) error {
	if strings.HasPrefix(name, "$") {
		if !slices.Contains(BuiltInEvents, name) {
			return fmt.Errorf("is not a built-in event; must be one of %s", strings.Join(BuiltInEvents, ", "))
		}
		return nil
	}
	return CheckEventName(name)
}

func checkName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		return errors.New("cannot be empty")
	case n > MaxName:
		return fmt.Errorf("has %d characters; the limit is %d", n, MaxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("cannot contain control characters")
	}
	return nil
}

func checkDuration(s string) error { _, err := clock.ParseDuration(s); return err }
func checkOffset(s string) error   { _, err := clock.ParseOffset(s); return err }
func checkZone(s string) error     { _, err := clock.Zone(s); return err }

// checkStepZone also accepts Liquid, which is validated after it is rendered.
func checkStepZone(s string) error {
	if strings.Contains(s, "{{") {
		return nil
	}
	return checkZone(s)
}

func checkSince(s string) error {
	if s == SinceRun || s == SinceStep || checkDuration(s) == nil {
		return nil
	}
	return errors.New("must be run, step or a duration before the start of the run, such as P1D")
}

func checkFrom(s string) error {
	_, err := address.Parse(s)
	return err
}

// checkSender accepts anything that could be a number or a word; the provider validates it when the message is
// sent.
func checkSender(s string) error {
	if strings.TrimSpace(s) == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return errors.New("must be a number or a word of ASCII characters")
	}
	return nil
}

func checkSubject(s string) error {
	if strings.ContainsAny(s, "\r\n") {
		return errors.New("cannot contain line breaks")
	}
	return nil
}

func checkHeader(name string) error { return address.ValidateHeader(name, "x") }

// The forms that make up the tables.
var (
	keyText = textForm(40, checkKey).
		withSchema(map[string]any{"pattern": keyForm.String(), "not": map[string]any{"enum": reservedKeys}})
	title     = textForm(4*MaxName, checkName).withSchema(map[string]any{"maxLength": MaxName, "pattern": `\S`})
	eventName = textForm(4*MaxName, CheckListened).
			withSchema(map[string]any{"maxLength": MaxName, "pattern": `^\S(.*\S)?$`})
	duration   = textForm(64, checkDuration).withSchema(map[string]any{"pattern": clock.DurationPattern})
	line       = map[string]any{"pattern": `^[^\r\n]*$`}
	expression = textForm(MaxExpression, nil)
	content    = textForm(MaxContent, nil)
	addresses  = textOr(textForm(MaxString, nil), listForm(1, 50, textForm(MaxString, nil))).titled("StepAddresses")
	goalEvent  = textForm(4*MaxName, CheckEventName).
			withSchema(map[string]any{"maxLength": MaxName, "pattern": `^[^$\s](.*\S)?$`})
	events = textOr(eventName, listForm(1, MaxEvents, eventName)).titled("StepEvents")
	target = textOr(oneOf(Continue, Ends, Fails),
		objectForm(member{"goto", keyText, true, "The key of a later step."}).titled("StepGoto")).titled("StepTarget")
	timeOfDay = textForm(5, clock.CheckTimeOfDay).
			withSchema(map[string]any{"pattern": "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"})
	variables = mapForm(1000, checkMember, anyValue())
)

const ofStep = "The key of a send_email step. Only events about its email match."

// MaxExpression is the maximum size of a CEL expression in bytes.
const MaxExpression = 4 << 10

var definitionMembers = []member{
	{"name", title, true, "The name of the automation."},
	{"description", textForm(MaxString, nil), false, "A description of the automation."},
	{"timezone", textForm(100, checkZone), false, "A time zone of the IANA database, such as Europe/Berlin. Defaults to UTC."},
	{"trigger", objectForm(
		member{"event", eventName, true, "The name of the events that start a run."},
		member{"conditions", expression, false,
			"A CEL expression over the event; it starts a run only if this is true."},
		member{"cancel_on_events", listForm(1, MaxEvents, textOr(eventName, objectForm(
			member{"event", eventName, true, "The name of the events that cancel the run."},
			member{"conditions", expression, false,
				"A CEL expression. event is the incoming event, trigger the event that started the run."},
			member{"step", keyText, false, ofStep},
		).titled("CancelEvent")).titled("CancelRule")), false, "Events of the same person that cancel the run."},
		member{"re_entry", textOr(oneOf(EveryTime, Once, AfterCompletion),
			objectForm(member{AtMostEvery, duration, true,
				"The minimum time between the starts of two runs of a person."}).
				titled("ReEntryInterval")).titled("ReEntry"), false,
			"Whether a person can have another run after the first. Defaults to every_time."},
	), true, "The event that starts a run."},
	{"goal", objectForm(
		member{"event", goalEvent, true, "The name of the custom event that converts a run."},
		member{"within_days", integerForm(1, MaxGoalDays), true,
			"The number of days after the start of a run within which the event converts it."},
	), false, "What the automation is meant to achieve. A run converts if its person has the event in time."},
}

var stepMembers = []member{
	{"key", keyText, false, "Name of the step for other steps and expressions. Defaults to <type>_<number>."},
	{"name", title, false, "A human-readable name."},
	{"next", target, false, "The step that follows this one. Defaults to the next in the list."},
}

var (
	onError      = member{"on_error", target, false, "What happens after an error. Defaults to fail."}
	expiresAfter = member{"expires_after", duration, false,
		"The step is skipped if it starts more than this long after it was due."}
)

func requireField(name string) map[string]any { return map[string]any{"required": []string{name}} }
