package doctor

import (
	"errors"
	"testing"

	"github.com/postrider/postrider/runtime/mail/signer"
)

func TestSigner(t *testing.T) {
	t.Parallel()
	inGo, err := signer.Open(signer.Go)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		mode   signer.EngineMode
		engine *signer.Engine
		err    error
		level  Level
		advice bool
	}{
		"go, as configured":            {mode: signer.Go, engine: inGo, level: OK},
		"auto, without libcrypto":      {mode: signer.Auto, engine: inGo, level: OK, advice: true},
		"libcrypto, without libcrypto": {mode: signer.Libcrypto, err: errors.New("not found"), level: Error, advice: true},
	} {
		if got := judgeSigner(c.mode, c.engine, c.err); got.Check != "signer" || got.Level != c.level ||
			got.Found == "" || (got.Do != "") != c.advice {
			t.Errorf("%s: got %+v, want the level %v and advice: %t", name, got, c.level, c.advice)
		}
	}
}
