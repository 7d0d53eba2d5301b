package diskroom

// Dir returns the folder whose disk is watched.
func (w *Watch) Dir() string { return w.config.Dir }
