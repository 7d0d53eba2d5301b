package signing

import (
	"fmt"
	"log/slog"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/signer"
)

// Signer is the setting that selects the implementation of RSA signatures.
var Signer = setting.Declare(setting.Setting[signer.EngineMode]{
	Name: "POSTRIDER_SIGNER", Group: "Delivery", Form: setting.OneOf("WHO", signer.Modes...), Default: signer.Auto,
	Help: "Implementation that signs messages: auto (libcrypto if it is found and its signatures match Go's, about " +
		"four times as fast; otherwise Go), go, or libcrypto (fails to start without it).",
})

// OpenEngine opens the configured implementation. It fails if libcrypto is required but is not found or its
// signatures differ from Go's.
func OpenEngine(cfg setting.Values, log *slog.Logger) (*signer.Engine, error) {
	engine, err := signer.Open(Signer.Get(cfg))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Signer.Name, err)
	}
	log.Info("signatures of messages", "signer", engine.Name(), "instead_of_libcrypto", engine.Reason())
	return engine, nil
}
