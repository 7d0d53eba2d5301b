package definition

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// CEL does not parse steps.in, and Liquid gives first, last and size of any object a meaning.
var reservedKeys = []string{"in", "true", "false", "null", "first", "last", "size"}

func checkKey(key string) error {
	switch {
	case !keyForm.MatchString(key):
		return errors.New("must begin with a letter a-z and have at most 40 of a-z, 0-9 and _")
	case slices.Contains(reservedKeys, key):
		return errors.New("is a word of the expression languages; choose another key")
	}
	return nil
}

// CheckEventName judges the name of an event that a caller may send.
func CheckEventName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return errors.New("must not be empty")
	case n > MaxName:
		return fmt.Errorf("has %d characters; the limit is %d", n, MaxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("contains a control character")
	case strings.HasPrefix(name, "$"):
		return errors.New("begins with $, as only the service's own events do")
	}
	return nil
}

// OwnEvents are the service's own events to which an automation may listen: $ and the type of
// the fact that they tell of.
var OwnEvents = []string{"$contact.unsubscribed", "$email.bounced", "$email.clicked", "$email.delivered", "$email.opened", "$email.received"}

// CheckListened judges the name of an event that an automation listens to.
func CheckListened(name string) error {
	if strings.HasPrefix(name, "$") {
		if !slices.Contains(OwnEvents, name) {
			return fmt.Errorf("is none of the service's own events; there are %s", strings.Join(OwnEvents, ", "))
		}
		return nil
	}
	return CheckEventName(name)
}

func checkName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		return errors.New("must not be empty")
	case n > MaxName:
		return fmt.Errorf("has %d characters; the limit is %d", n, MaxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("contains a control character")
	}
	return nil
}

func checkDuration(s string) error { _, err := clock.ParseDuration(s); return err }
func checkOffset(s string) error   { _, err := clock.ParseOffset(s); return err }
func checkZone(s string) error     { _, err := clock.Zone(s); return err }

// checkStepZone also lets Liquid pass, which is judged when it was rendered.
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
	return errors.New("must be run, step or a duration before the start of the run, as P1D")
}

func checkFrom(s string) error {
	_, err := address.Parse(s)
	return err
}

// checkSender lets pass what could be a number or a word; which ones a provider takes is judged
// when the message is sent.
func checkSender(s string) error {
	if strings.TrimSpace(s) == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return errors.New("must be a number or a word of ASCII characters")
	}
	return nil
}

func checkSubject(s string) error {
	if strings.ContainsAny(s, "\r\n") {
		return errors.New("contains a line break")
	}
	return nil
}

func checkHeader(name string) error { return address.ValidateHeader(name, "x") }

func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("is not a URL")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return errors.New("must begin with https://") // http only to this machine, and there only in development: the activation judges
	case u.User != nil:
		return errors.New("has a user name or a password in it")
	case u.Fragment != "":
		return errors.New("has a fragment")
	case strings.Contains(s, "{{") || strings.Contains(s, "{%"):
		return errors.New("must be literal; put values into the body")
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// The forms of which the tables are made.
var (
	keyText    = text(40, checkKey).as(map[string]any{"pattern": keyForm.String(), "not": map[string]any{"enum": reservedKeys}})
	title      = text(4*MaxName, checkName).as(map[string]any{"maxLength": MaxName, "pattern": `\S`})
	eventName  = text(4*MaxName, CheckListened).as(map[string]any{"maxLength": MaxName})
	duration   = text(64, checkDuration).as(map[string]any{"pattern": clock.DurationPattern})
	line       = map[string]any{"pattern": `^[^\r\n]*$`}
	expression = text(MaxExpression, nil)
	content    = text(MaxContent, nil)
	addresses  = textOr(text(MaxString, nil), list(1, 50, text(MaxString, nil)))
	events     = textOr(eventName, list(1, MaxEvents, eventName))
	target     = textOr(oneOf(Continue, Ends, Fails), object(member{"goto", keyText, true, "The key of a later step."}))
	timeOfDay  = text(5, clock.CheckTimeOfDay).as(map[string]any{"pattern": "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"})
	variables  = members(1000, checkMember, anyValue())
)

const ofStep = "The key of a send_email step: only events of the service's own that are about its mail."

// MaxExpression is how long a CEL expression may be, in octets.
const MaxExpression = 4 << 10

var definitionMembers = []member{
	{"name", title, true, ""},
	{"description", text(MaxString, nil), false, ""},
	{"timezone", text(100, checkZone), false, "A name of the IANA database, as Europe/Berlin; UTC if left out."},
	{"trigger", object(
		member{"event", eventName, true, "The name of the events that start a run."},
		member{"conditions", expression, false, "A CEL expression over the event; it starts a run only if this is true."},
		member{"cancel_on_events", list(1, MaxEvents, textOr(eventName, object(
			member{"event", eventName, true, ""},
			member{"conditions", expression, false, "CEL; event is the event that arrives, trigger the one that started the run."},
			member{"step", keyText, false, ofStep},
		))), false, "Events of the same person that cancel the run."},
		member{"re_entry", textOr(oneOf(EveryTime, Once, AfterCompletion), object(member{AtMostEvery, duration, true, ""})), false,
			"Whether somebody who had a run may have another; every_time if left out."},
	), true, ""},
}

var stepMembers = []member{
	{"key", keyText, false, "By which other steps and expressions name this one; <type>_<number> if left out."},
	{"name", title, false, ""},
	{"next", target, false, "Where the run goes on after this step; at the next one if left out."},
}

var (
	onError      = member{"on_error", target, false, "After an error; fail if left out."}
	expiresAfter = member{"expires_after", duration, false, "If the step is reached so much later than it was due, it is left out."}
)

// typeMembers are the fields of each type, beside stepMembers.
var typeMembers = map[string][]member{
	SendEmail: {
		{"to", addresses, false, "Liquid; {{event.email}} if left out."}, {"cc", addresses, false, "Liquid."}, {"bcc", addresses, false, "Liquid."}, {"reply_to", addresses, false, "Liquid."},
		{"from", text(1000, checkFrom), false, "Literal; may be left to the template."},
		{"subject", text(MaxString, checkSubject).as(line), false, "Liquid."}, {"html", content, false, "Liquid; values are escaped."}, {"text", content, false, "Liquid."},
		{"template", object(
			member{"id", text(100, nil), false, "This or alias."},
			member{"alias", text(200, nil), false, "This or id."},
			member{"variables", variables, false, "Liquid in strings; a string that is one output passes the value with its type."},
		).as(map[string]any{"oneOf": []any{requires("id"), requires("alias")}}), false, "A published template."},
		{"tags", list(1, 10, object(member{"name", text(256, nil), true, ""}, member{"value", text(256, nil), true, ""})), false, ""},
		{"headers", members(50, checkHeader, text(998, checkSubject).as(line)), false, ""},
		{"category", text(200, nil), false, ""}, {"unsubscribe", boolean(), false, ""},
		expiresAfter, {"on_suppressed", target, false, "If a recipient is suppressed; continue if left out."}, onError,
	},
	SendSMS: {
		{"to", text(MaxString, nil), true, "Liquid, as {{event.data.phone}}; a number as +4915112345678 once it is filled."},
		{"text", text(MaxString, nil), true, "Liquid; at most 10 segments once it is filled."},
		{"from", text(34, checkSender), false, "Literal; the sender of the settings of text messages if left out."},
		expiresAfter, {"on_suppressed", target, false, "If the owner of the number has said STOP; continue if left out."}, onError,
	},
	Delay: {{"duration", duration, true, "ISO 8601, as PT30M or P3D; a day has 24 hours."}},
	WaitUntil: {
		{"window", object(
			member{"from", timeOfDay, true, "As 09:00."},
			member{"to", timeOfDay, true, "As 20:00; before from means the next day."},
			member{"days", list(1, 7, oneOf(clock.Days...)), false, "Every day if left out."},
		), false, "The part of the day in which the run goes on."},
		{"at", expression, false, "A CEL expression that gives a timestamp, as timestamp(event.data.ends_at)."},
		{"offset", text(65, checkOffset).as(map[string]any{"pattern": "^-?" + clock.DurationPattern[1:]}), false, "Added to at; may be negative, as -P3D."},
		{"timezone", text(MaxString, checkStepZone), false, "Liquid, or a name of the IANA database."},
		{"on_past", target, false, "If at is in the past; continue if left out."},
	},
	WaitForEvent: {
		{"event", events, true, "A name, or several of which the first wins."},
		{"timeout", duration, true, ""}, {"conditions", expression, false, "CEL; event is the event that arrives, trigger the one that started the run."},
		{"step", keyText, false, ofStep},
		{"since", text(64, checkSince), false, "From when on events count: run (if left out), step, or a duration before the start of the run."},
		{"on_event", target, false, "continue if left out."}, {"on_timeout", target, false, "continue if left out."},
	},
	Condition: {{"if", expression, true, "CEL."}, {"on_true", target, false, "continue if left out."}, {"on_false", target, false, "end if left out."}},
	Branch: {
		{"cases", list(1, MaxCases, object(member{"if", expression, true, "CEL."}, member{"goto", keyText, true, ""})), true, "The first that is true counts."},
		{"otherwise", target, false, "continue if left out."},
	},
	Split: {{"variants", list(2, 5, object(member{"key", keyText, true, ""}, member{"weight", integer(1, 1_000_000), true, ""}, member{"goto", keyText, false, ""})), true,
		"A person always gets the same one."}},
	Webhook: {
		{"url", text(2000, checkURL).as(map[string]any{"pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"}), true, "https, literal."}, {"method", oneOf("POST", "PUT"), false, "POST if left out."},
		{"headers", members(MaxHeaders, checkRequestHeader, text(998, checkSubject).as(line)), false, ""},
		{"body", anyValue().as(map[string]any{"not": map[string]any{"type": "null"}}), false, "JSON; Liquid in strings, and a string that is one output passes the value with its type."},
		{"capture", boolean(), false, "Keep up to 16 KB of a JSON answer as steps.<key>.body."}, onError,
	},
	End: {{"outcome", oneOf("completed", "failed"), false, "completed if left out."}},
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

func checkRequestHeader(name string) error {
	lower := strings.ToLower(name)
	switch {
	case !headerName.MatchString(name):
		return errors.New("is not a header name")
	case slices.Contains([]string{"host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "content-type", "idempotency-key", "service-signature", "postrider-cause", "user-agent"}, lower):
		return errors.New("is written by the service")
	}
	return nil
}

// Types names the types of steps.
func Types() []string { return sortedKeys(typeMembers) }

var (
	stepForms      = formsOfSteps()
	definitionForm = object(append(slices.Clone(definitionMembers), member{"steps", list(1, MaxSteps, anyStep()), true, ""})...)
)

// together is what a schema can say of fields that belong together (judge.go says the same
// to the author), by the type of the step.
var together = map[string]map[string]any{
	SendEmail: {"anyOf": []any{
		map[string]any{"required": []string{"template"}, "properties": map[string]any{"html": false, "text": false}},
		map[string]any{"required": []string{"from", "subject", "html"}, "not": requires("template")},
		map[string]any{"required": []string{"from", "subject", "text"}, "not": requires("template")},
	}},
	WaitUntil: {"anyOf": []any{requires("window"), requires("at")}, "dependentRequired": map[string][]string{"offset": {"at"}}},
}

func requires(name string) map[string]any { return map[string]any{"required": []string{name}} }

func formsOfSteps() map[string]form {
	forms := map[string]form{}
	for kind, own := range typeMembers {
		all := append([]member{{"type", oneOf(kind), true, ""}}, stepMembers...)
		if kind == End {
			all = slices.DeleteFunc(all, func(m member) bool { return m.name == "next" })
		}
		forms[kind] = object(append(all, own...)...).as(together[kind])
	}
	return forms
}

// anyStep is the form that the type of a step names.
func anyStep() form {
	var schemas []any
	for _, kind := range Types() {
		schemas = append(schemas, stepForms[kind].schema)
	}
	return form{schema: map[string]any{"oneOf": schemas, "discriminator": map[string]any{"propertyName": "type"}},
		judge: func(path string, value any, wrong fault.Fields) {
			step, is := value.(map[string]any)
			if !is {
				wrong.Add(path, "must be an object")
				return
			}
			kind, _ := step["type"].(string)
			f, known := stepForms[kind]
			if !known {
				wrong.Add(path+".type", "must be one of %s", strings.Join(Types(), ", "))
				return
			}
			f.judge(path, value, wrong)
		}}
}

// Schema is the JSON Schema (2020-12) of a definition. It takes everything that Decode takes.
// What it cannot say (targets, keys given twice, expressions) only Decode refuses.
func Schema() map[string]any {
	schema := definitionForm.as(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Automation"})
	return schema.schema
}

// TriggerSchema is the part of Schema about the trigger.
func TriggerSchema() map[string]any { return properties(Schema())["trigger"].(map[string]any) } //nolint:forcetypeassert // made in object

// StepSchema is the part of Schema about steps of a type.
func StepSchema(kind string) map[string]any { return stepForms[kind].schema }

func properties(schema map[string]any) map[string]any {
	return schema["properties"].(map[string]any) //nolint:forcetypeassert // made in object
}
