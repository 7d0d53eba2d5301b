package checks

import (
	"context"

	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// checkObjectStore checks whether the object store responds, and whether one is needed but not set.
func checkObjectStore(p Params) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		if cfg := blob.StoreURL.Get(p.Config); cfg.Bucket != "" {
			return []doctor.Finding{objectStore(ctx, cfg)}
		}
		needed, err := bodies.NeedsObjectStore(ctx, p.DB)
		switch {
		case err != nil:
			return []doctor.Finding{{Check: "objects.bodies", Level: doctor.Skipped, Found: err.Error(),
				Expected: "no email body is in an object store that is not configured",
				Do:       "Check the database first."}}
		case needed:
			return []doctor.Finding{{Check: "objects.bodies", Level: doctor.Error,
				Found:    "bodies of sent emails are in an object store, but POSTRIDER_BLOBS is not set: they cannot be read or deleted",
				Expected: "every process can reach the store that bodies were moved to",
				Do:       "Set POSTRIDER_BLOBS to the previous store, bucket and prefix. Without POSTRIDER_BLOBS_SENT_AFTER no more bodies are moved."}}
		}
		return nil
	}
}

func objectStore(ctx context.Context, cfg blob.Config) doctor.Finding {
	f := doctor.Finding{Check: "objects.store", Expected: "the object store of POSTRIDER_BLOBS responds",
		Found: "it responds"}
	store, err := blob.S3(cfg)
	if err == nil {
		err = store.Check(ctx)
	}
	if err != nil {
		f.Level, f.Found = doctor.Error, err.Error()
		f.Do = "Check the store and POSTRIDER_BLOBS. No data is lost: bodies that are due to move stay in the database. Moved bodies cannot be read until the store responds."
	}
	return f
}
