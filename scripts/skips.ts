/** A reporter for vitest that ends a run with what was skipped, and why. */
import { existsSync, readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { reachable, servers } from '../test/adapters/_servers.ts'

const slow = 'slow tests are left out: AUTHKERNEL_TIER=full npm test'

export default class Skips implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const absent = await absentServices()
    const counted = new Map<string, { tests: number; files: Set<string> }>()
    for (const module of modules) {
      const tests = [...module.children.allTests('skipped')].length
      if (tests === 0) continue
      for (const reason of reasonsOf(module.moduleId, absent)) {
        const entry = counted.get(reason) ?? { tests: 0, files: new Set() }
        entry.tests += tests
        entry.files.add(module.relativeModuleId)
        counted.set(reason, entry)
      }
    }
    const lines = [...counted].map(([reason, { tests, files }]) => `  ${tests} tests in ${[...files].sort().join(', ')}\n    ${reason}`)
    if (modules.length > 1 && process.env.AUTHKERNEL_TIER !== 'full') lines.push(`  ${slow}`)
    if (lines.length > 0) console.log(`\nSkipped:\n${lines.join('\n')}\n`)
  }
}

/** What a test may need and this machine lacks: a word of its file, and what to do. */
async function absentServices(): Promise<[word: RegExp, reason: string][]> {
  const absent: [RegExp, string][] = []
  for (const [name, word] of Object.entries({ postgres: /postgres/i, mysql: /mysql|mariadb/i, redis: /redis/i })) {
    const kind = name as keyof typeof servers
    const { hostname, port } = new URL(servers[kind])
    const there = await reachable(kind).catch(() => false)
    const remedy = `no ${kind} answers at ${hostname}:${port}: start one, or set AUTHKERNEL_TEST_${kind.toUpperCase()}_URL`
    if (!there) absent.push([word, remedy])
  }
  if (!existsSync('test/peers/node_modules'))
    absent.push([/_published|installed\(\)/, 'published adapters are not installed: npm ci --prefix test/peers'])
  if (!existsSync('site/node_modules/typedoc'))
    absent.push([/site\/node_modules/, 'the documentation site is not installed: npm ci --prefix site'])
  return absent
}

function reasonsOf(file: string, absent: [RegExp, string][]): string[] {
  const text = readFileSync(file, 'utf8')
  const reasons = absent.filter(([word]) => word.test(text)).map(([, reason]) => reason)
  return reasons.length > 0 ? reasons : ['the file says why, beside its `skip`']
}
