package delivery

import "github.com/postrider/postrider/runtime/base/fault"

// Config sets how messages leave.
type Config struct {
	// Concurrency is connections to mail servers at a time, each with a delivery in
	// use and one that waits for its turn; 0 only accepts and leaves delivery to other
	// processes.
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
