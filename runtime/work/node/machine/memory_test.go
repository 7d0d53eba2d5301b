package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryIsLowestLimit(t *testing.T) {
	t.Parallel()
	const mebi = 1 << 20
	meminfo := "MemFree:  10 kB\nMemTotal:       4194304 kB\n" // 4 GiB
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no cgroup":      {map[string]string{"proc/meminfo": meminfo}, 4096 * mebi},
		"no information": {nil, 0},
		"version 2": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/app\n",
			"sys/fs/cgroup/app/memory.max": "1073741824\n"}, 1024 * mebi},
		"version 2, no limit": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/app\n",
			"sys/fs/cgroup/app/memory.max": "max\n"}, 4096 * mebi},
		"version 2, throttled before its limit": {map[string]string{"proc/meminfo": meminfo,
			"proc/self/cgroup": "0::/app\n", "sys/fs/cgroup/app/memory.max": "1073741824\n",
			"sys/fs/cgroup/app/memory.high": "536870912\n"}, 512 * mebi},
		"version 2, the limit is around it": {map[string]string{"proc/meminfo": meminfo,
			"proc/self/cgroup": "0::/slice/app\n", "sys/fs/cgroup/slice/app/memory.max": "max\n",
			"sys/fs/cgroup/slice/memory.max": "2147483648\n"}, 2048 * mebi},
		"version 2, in a container that sees the path of the host": {map[string]string{"proc/meminfo": meminfo,
			"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 * mebi},
		"version 1": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "9:name=systemd:/x\n4:cpu,memory:/app\n1:cpu:/\n0::/\n",
			"sys/fs/cgroup/memory/app/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n"}, 1024 * mebi},
		"version 1, no limit": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 4096 * mebi},
		"a limit above the memory of the machine": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "17179869184\n"}, 4096 * mebi},
		"unreadable": {map[string]string{"proc/meminfo": "MemTotal: lots kB\n", "proc/self/cgroup": "what\n", "sys/fs/cgroup/memory.max": "1\n"}, 0},
	} {
		root := t.TempDir()
		for file, content := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := memoryBelow(root); got != c.want {
			t.Errorf("%s: the memory is %d MiB, want %d", name, got/mebi, c.want/mebi)
		}
	}
}
