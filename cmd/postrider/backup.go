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
	toolSettings

	To string `help:"Folder in which the backup gets a folder of its own." placeholder:"DIR" required:"" type:"path"`
}

func (c *backupCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(config.LogFormat.Of(cfg), config.LogLevel.Of(cfg), s.log)
	reached, err := store.Reach(s.ctx, cfg, log)
	if err != nil {
		return err
	}
	defer reached.Close(log, store.StopLimit)
	made, err := backup.Take(s.ctx, backup.Source{URL: reached.URL, Clients: store.Server(cfg, log), Version: s.version, Keys: store.KeyMark(cfg)}, c.To)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.log, "The backup does not hold the master key: keep POSTRIDER_MASTER_KEY (or master.key of the data directory) in another safe place.")
	return s.print(struct {
		Folder string `json:"folder"`
		backup.Manifest
	}{made.Folder, made.Manifest})
}

type restoreCommand struct {
	toolSettings

	From    string `help:"The backup: the folder that backup has printed." placeholder:"DIR" required:"" type:"existingdir"`
	Replace bool   `help:"Embedded PostgreSQL: set a database aside that is there. It is kept beside the new one."`
}

func (c *restoreCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(config.LogFormat.Of(cfg), config.LogLevel.Of(cfg), s.log)
	from, err := backup.Open(c.From)
	if err != nil {
		return err
	}
	if mark := store.KeyMark(cfg); mark != "" && from.Manifest.Keys != "" && mark != from.Manifest.Keys {
		return fmt.Errorf("%s was sealed with another master key than the one set here: signing keys and secrets in it could not be opened. Set POSTRIDER_MASTER_KEY to the one of that time, with newer ones behind it", c.From)
	}
	reason := fmt.Sprintf("restored from %s, taken %s", from.Folder, from.Manifest.TakenAt.UTC().Format(time.RFC3339))
	target := struct {
		Held     bool      `json:"held"`
		TakenAt  time.Time `json:"taken_at"`
		SetAside string    `json:"set_aside,omitempty"` // folder of the database that was there
	}{Held: true, TakenAt: from.Manifest.TakenAt}
	if config.Embedded(cfg) {
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
	fmt.Fprintln(s.log, "Restored, and held: nothing leaves until `postrider hold release`. What was sent after the backup still waits here, and would be sent again:\n"+
		"look at it with `postrider hold show`, and end it with `postrider hold drop --due-before TIME`, where TIME is that of the failure.")
	return s.print(target)
}
