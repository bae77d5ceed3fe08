// Holds processes to a share of a core each, so that a bench can run several on a machine with few cores. By a cgroup of its own for each
// process, as Kubernetes does with `limits.cpu`; where this user may make none, by stopping and continuing the process. Linux only.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import process from 'node:process'

interface CpuQuota {
  /** How it is held, for the reader of the figures. */
  how: string
  /** From now on. */
  hold(pid: number): void
  /** The processes run freely again. */
  lift(): void
  /** Removes what was made, once the processes have ended. */
  remove(): void
}

/** Kubernetes' own. */
const PERIOD_MS = 100
const PERIOD_US = PERIOD_MS * 1_000

export const createCpuQuota = (cores: number): CpuQuota =>
  createInVersion1(cores) ?? createInVersion2(cores) ?? createDutyCycle(cores)

const createInVersion1 = (cores: number): CpuQuota | null =>
  createInGroups('cgroup v1', '/sys/fs/cgroup/cpu', group => {
    writeFileSync(`${group}/cpu.cfs_period_us`, `${PERIOD_US}`)
    return quota => writeFileSync(`${group}/cpu.cfs_quota_us`, quota === 'none' ? '-1' : `${cores * PERIOD_US}`)
  })

const createInVersion2 = (cores: number): CpuQuota | null =>
  createInGroups('cgroup v2', '/sys/fs/cgroup', group => {
    writeFileSync('/sys/fs/cgroup/cgroup.subtree_control', '+cpu')
    return quota => writeFileSync(`${group}/cpu.max`, `${quota === 'none' ? 'max' : cores * PERIOD_US} ${PERIOD_US}`)
  })

type SetQuota = (quota: 'held' | 'none') => void

/** Null where a group cannot be made. */
function createInGroups(how: string, root: string, open: (group: string) => SetQuota): CpuQuota | null {
  const groups: { path: string; setQuota: SetQuota }[] = []
  const make = (): { path: string; setQuota: SetQuota } => {
    const path = `${root}/countersign-bench-${process.pid}-${groups.length}`
    mkdirSync(path)
    try {
      const setQuota = open(path)
      setQuota('held')
      return { path, setQuota }
    } catch (error) {
      rmdirSync(path)
      throw error
    }
  }
  try {
    rmdirSync(make().path)
  } catch {
    return null
  }
  return {
    how,
    hold(pid) {
      const group = make()
      groups.push(group)
      writeFileSync(`${group.path}/cgroup.procs`, `${pid}`)
    },
    lift() {
      for (const { setQuota } of groups) setQuota('none')
    },
    remove() {
      for (const { path } of groups.splice(0)) rmdirSync(path)
    },
  }
}

/** A process may run for its share of each period, whether it has work then or not. So it gets a little less than its share. */
function createDutyCycle(cores: number): CpuQuota {
  const pids = new Set<number>()
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, name)
  }
  let timer: NodeJS.Timeout | undefined
  const cycle = (): void => {
    signal('SIGCONT')
    setTimeout(() => signal('SIGSTOP'), PERIOD_MS * cores)
  }
  const lift = (): void => {
    clearInterval(timer)
    signal('SIGCONT')
    pids.clear()
  }
  return {
    how: 'SIGSTOP and SIGCONT',
    hold(pid) {
      pids.add(pid)
      timer ??= setInterval(cycle, PERIOD_MS)
    },
    lift,
    remove() {},
  }
}

function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').length > 0
  } catch {
    return false
  }
}
