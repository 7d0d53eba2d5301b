package machine

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/modules/automations/definition"
)

var _ = registerType(definition.SendSMS, smsStep{})

type smsStep struct{ effectStep }

// SMS is a text message with its texts rendered.
type SMS struct {
	To, From, Text string
}

func (smsStep) texts(s *definition.Step) (out []source) {
	for i, to := range s.To {
		out = addText(out, fmt.Sprintf("to[%d]", i), to)
	}
	return addText(out, "text", s.Text)
}

func (smsStep) render(t *texts, s *definition.Step) (Effect, error) {
	to, err := t.renderPath("to[0]")
	if err != nil {
		return nil, err
	}
	text, err := t.renderPath("text")
	return &SMS{To: strings.TrimSpace(to), From: s.From, Text: text}, err
}
