package doctor

import (
	"context"

	"github.com/postrider/postrider/runtime/mail/signer"
)

// Signer returns a check of the library that signs messages in a mode.
func Signer(mode signer.EngineMode) Check {
	return func(context.Context) []Finding {
		engine, err := signer.Open(mode)
		return []Finding{judgeSigner(mode, engine, err)}
	}
}

func judgeSigner(mode signer.EngineMode, engine *signer.Engine, err error) Finding {
	s := subject{"signer", "libcrypto, which signs about four times as fast as Go"}
	switch {
	case err != nil:
		return s.finding(Error, err.Error(),
			"Install OpenSSL's library (apt-get install libssl3), or set POSTRIDER_SIGNER=auto. The service does not start without it.")
	case engine.Reason() != "" && mode == signer.Auto:
		return s.finding(OK, engine.Name()+": "+engine.Reason(),
			"To deliver more with the same cores, install OpenSSL's library (apt-get install libssl3) and use a build that is linked to the C library.")
	}
	return s.ok(engine.Name())
}
