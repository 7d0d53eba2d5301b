package machine

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// HasOpenSSL reports whether the openssl command is installed.
func HasOpenSSL() bool {
	_, err := exec.LookPath("openssl")
	return err == nil
}

// MeasureSignatures returns the RSA-2048 signatures per second on all cores. Each delivered message needs one. It uses
// OpenSSL, or Go's slower implementation if the openssl command is missing.
func MeasureSignatures(ctx context.Context, length time.Duration) (float64, error) {
	if !HasOpenSSL() {
		return signWithGo(length)
	}
	seconds := max(1, int(length.Seconds()))
	output, err := exec.CommandContext(ctx, "openssl", "speed", "-seconds", strconv.Itoa(seconds), "-multi",
		strconv.Itoa(runtime.NumCPU()), "rsa2048").Output()
	if err != nil {
		return 0, fmt.Errorf("openssl speed: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	fields := strings.Fields(lines[len(lines)-1]) // rsa 2048 bits 0.000439s 0.000012s 2278.5 84057.0
	if len(fields) < 2 {
		return 0, fmt.Errorf("openssl speed: no signatures per second in the next-to-last field of %q",
			lines[len(lines)-1])
	}
	rate, err := strconv.ParseFloat(fields[len(fields)-2], 64)
	if err != nil {
		return 0, fmt.Errorf("openssl speed: no signatures per second in the next-to-last field of %q", lines[len(lines)-1])
	}
	return rate, nil
}

func signWithGo(length time.Duration) (float64, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return 0, err
	}
	digest := sha256.Sum256([]byte("postrider"))
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	begin := time.Now()
	for range runtime.NumCPU() {
		all.Go(func() {
			for time.Since(begin) < length {
				if _, err := key.Sign(rand.Reader, digest[:], crypto.SHA256); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(begin).Seconds(), nil
}
