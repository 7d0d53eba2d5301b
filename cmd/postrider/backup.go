package main

import (
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/backup"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
)

type backupCommand struct {
	keyedSettings

	To string `help:"Folder in which to create the folder of the backup." placeholder:"DIR" required:"" type:"path"`
}

func (c *backupCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(config.LogFormat.Get(cfg), config.LogLevel.Get(cfg), s.log)
	reached, err := store.Reach(s.ctx, cfg, log)
	if err != nil {
		return err
	}
	defer reached.Close(log, store.StopLimit)
	made, err := backup.Take(s.ctx, backup.Source{URL: reached.URL, Clients: store.Server(cfg, log), Version: s.version,
		Keys: store.KeyMark(cfg)}, c.To)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.log, "The backup does not contain the master key. "+
		"Keep POSTRIDER_MASTER_KEY (or master.key in the data directory) in another safe place.")
	return s.print(struct {
		Folder string `json:"folder"`
		backup.Manifest
	}{made.Folder, made.Manifest})
}

type restoreCommand struct {
	keyedSettings

	From    string `help:"Folder that postrider admin backup printed." placeholder:"DIR" required:"" type:"existingdir"`
	Replace bool   `help:"Embedded PostgreSQL: keep the existing database next to the new one."`
}

func (c *restoreCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(config.LogFormat.Get(cfg), config.LogLevel.Get(cfg), s.log)
	from, err := backup.Open(c.From)
	if err != nil {
		return err
	}
	if mark := store.KeyMark(cfg); mark != "" && from.Manifest.Keys != "" && mark != from.Manifest.Keys {
		return fmt.Errorf("the master key cannot decrypt %s, whose secrets were encrypted with another one: "+
			"set POSTRIDER_MASTER_KEY to the key of that time, followed by newer ones", c.From)
	}
	reason := fmt.Sprintf("restored from %s, taken %s", from.Folder, from.Manifest.TakenAt.UTC().Format(time.RFC3339))
	target := struct {
		Held     bool      `json:"held"`
		TakenAt  time.Time `json:"taken_at"`
		SetAside string    `json:"set_aside,omitempty"` // folder of the previous database
	}{Held: true, TakenAt: from.Manifest.TakenAt}
	if config.IsEmbedded(cfg) {
		target.SetAside, err = from.IntoDataDir(s.ctx, store.Server(cfg, log), reason, c.Replace)
	} else {
		var url string
		if url, err = store.HostInUse(s.ctx, cfg); err == nil {
			err = from.IntoDatabase(s.ctx, url, store.Server(cfg, log), reason)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(s.log,
		"Restored. The installation is on hold: nothing is sent until `postrider admin hold release`.\n"+
			"Mail that was sent after the backup is queued again. List it with `postrider admin hold show`,\n"+
			"and drop it with `postrider admin hold drop --due-before TIME`, where TIME is the time of the failure.")
	return s.print(target)
}
