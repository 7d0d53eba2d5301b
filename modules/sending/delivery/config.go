package delivery

import "github.com/postrider/postrider/runtime/base/fault"

// Config configures delivery.
type Config struct {
	// Concurrency is the number of concurrent deliveries with a connection to a mail server; half as many
	// more may wait for one. With 0, this process only accepts mail and leaves delivery to other processes.
	Concurrency int
}

// DefaultConfig suits one small machine.
func DefaultConfig() Config { return Config{Concurrency: 32} }

// Validate returns an error of kind Invalid that names a setting that cannot work.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.Concurrency < 0 {
		wrong.Add("delivery_concurrency", "must not be negative")
	}
	return wrong.Err()
}
