package checks

import (
	"context"

	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// checkObjectStore looks whether the object store answers, and whether one is needed where there is none.
func checkObjectStore(p Params) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		if cfg := blob.At.Of(p.Config); cfg.Bucket != "" {
			return []doctor.Finding{objectStore(ctx, cfg)}
		}
		needed, err := bodies.Needed(ctx, p.DB)
		switch {
		case err != nil:
			return []doctor.Finding{{Check: "objects.bodies", Level: doctor.Skipped, Found: err.Error(), Expected: "no body lies in an object store that is not set", Do: "Look at the database first."}}
		case needed:
			return []doctor.Finding{{Check: "objects.bodies", Level: doctor.Error, Found: "bodies of sent emails lie in an object store, and POSTRIDER_BLOBS is not set: they cannot be read or deleted",
				Expected: "every process has the store that bodies were moved to", Do: "Set POSTRIDER_BLOBS to the store, bucket and prefix of before. Without POSTRIDER_BLOBS_SENT_AFTER no more is moved."}}
		}
		return nil
	}
}

func objectStore(ctx context.Context, cfg blob.Config) doctor.Finding {
	f := doctor.Finding{Check: "objects.store", Expected: "the object store of POSTRIDER_BLOBS answers", Found: "it answers"}
	store, err := blob.S3(cfg)
	if err == nil {
		err = store.Check(ctx)
	}
	if err != nil {
		f.Level, f.Found = doctor.Error, err.Error()
		f.Do = "Look at the store and at POSTRIDER_BLOBS. Nothing is lost meanwhile: what is to move there stays in the database. What was moved cannot be read."
	}
	return f
}
