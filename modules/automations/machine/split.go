package machine

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/postrider/postrider/modules/automations/definition"
)

var _ = registerType(definition.Split, splitStep{})

type splitStep struct{ plainStep }

// begin chooses the variant by a hash, so that a person always gets the same one.
func (splitStep) begin(a *advance, s *definition.Step) {
	total := 0
	for _, v := range s.Variants {
		total += v.Weight
	}
	sum := sha256.Sum256([]byte(a.run.AutomationID + "\x00" + s.Key + "\x00" + a.run.Identity.splitSeed(a.run.ID)))
	place := int(binary.BigEndian.Uint64(sum[:8]) % uint64(total))
	for _, v := range s.Variants {
		if place -= v.Weight; place >= 0 {
			continue
		}
		target := definition.Target{Kind: definition.Continue}
		if v.Goto != "" {
			target = definition.Target{Kind: definition.Goto, Key: v.Goto}
		}
		a.finish(Record{Status: StatusDone, Output: map[string]any{"variant": v.Key}}, target)
		return
	}
}
