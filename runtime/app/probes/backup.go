package probes

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/backup"
)

// Backups reports in the metrics when the newest backup in a folder was taken.
func Backups(dir string) fx.Option {
	if dir == "" {
		return fx.Options()
	}
	return fx.Invoke(func(registry prometheus.Registerer) error { return registry.Register(newBackupGauge(dir)) })
}

// newBackupGauge returns a gauge that is 0 without a backup, and NaN if the folder cannot be read.
func newBackupGauge(dir string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "postrider_backup_taken_timestamp_seconds",
		Help: "When the newest backup in POSTRIDER_BACKUP_DIR was taken, in seconds since 1970; 0 if there is none."},
		func() float64 {
			taken, err := backup.Newest(dir)
			switch {
			case err != nil:
				return math.NaN()
			case taken.IsZero():
				return 0
			}
			return float64(taken.Unix())
		})
}
