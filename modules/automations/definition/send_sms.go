package definition

import "strings"

// SendSMS is the type of steps that send a text message.
const SendSMS = "send_sms"

var _ = registerType(SendSMS, smsStep{})

type smsStep struct{ plainStep }

func (smsStep) describe() string {
	return "sends a [text message](sms.md) to a number, such as `{{event.data.phone}}`"
}

func (smsStep) members() []member {
	return []member{
		{"to", textForm(MaxString, nil), true, "Recipient in Liquid, such as {{event.data.phone}}. It must render to a number such as +4915112345678."},
		{"text", textForm(MaxString, nil), true, "The text, with Liquid; at most 10 segments when rendered."},
		{"from", textForm(34, checkSender), false, "The sender, without Liquid. Defaults to the sender in the SMS settings."},
		expiresAfter, {"on_suppressed", target, false,
			"What happens if the owner of the number has sent STOP. Defaults to continue."}, onError,
	}
}

func (smsStep) isEffect() bool { return true }
func (smsStep) sends() Medium  { return MediumText }

func (smsStep) ways(s *Step) []StepTarget {
	return []StepTarget{newWay("on_suppressed", s.OnSuppressed, Continue), newWay("on_error", s.OnError, Fails)}
}

func (smsStep) summary(s *Step) string { return "Send a text message to " + strings.Join(s.To, ", ") }
