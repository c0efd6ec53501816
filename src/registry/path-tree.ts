/** Patterns of paths as a tree, so that a look-up does not take longer the more there are: what `Route.path` permits, and no more. */

/** The patterns below one segment. */
export interface PathTree<T> {
  fixed?: Map<string, PathTree<T>>
  /** Behind `:name` and `*`. */
  any?: PathTree<T>
  /** Behind `**:rest`. */
  rest?: Leaf<T>
  leaf?: Leaf<T>
}
interface Leaf<T> {
  value: T
  pattern: readonly string[]
}

/** Of two patterns for the same paths the first counts, unless the second has a name where the first ends with `*`. */
export function addPath<T>(tree: PathTree<T>, path: string, value: T): void {
  const pattern = segmentsOf(path)
  let node = tree
  for (const segment of pattern) {
    if (segment.startsWith('**')) return void (node.rest ??= { value, pattern })
    node = childOf(node, segment)
  }
  if (!node.leaf || (node.leaf.pattern.at(-1) === '*' && pattern.at(-1) !== '*')) node.leaf = { value, pattern }
}

/** The value of the best pattern, and segments of the path by the names of the pattern; those of `*` are numbered. */
export function findPath<T>(tree: PathTree<T>, path: string): { value: T; params: Record<string, string> } | undefined {
  const segments = segmentsOf(path)
  const leaf = leafOf(tree, segments, 0)
  if (!leaf) return undefined
  const params: Record<string, string> = {}
  let unnamed = 0
  for (const [at, part] of leaf.pattern.entries()) {
    if (part === '*') params[unnamed++] = segments[at] as string
    else if (part.startsWith(':')) params[part.slice(1)] = segments[at] as string
    else if (part.startsWith('**')) params[part.slice(3)] = segments.slice(at).join('/')
  }
  return { value: leaf.value, params }
}

function childOf<T>(node: PathTree<T>, segment: string): PathTree<T> {
  if (/^[:*]/.test(segment)) return (node.any ??= {})
  const fixed = (node.fixed ??= new Map())
  const child = fixed.get(segment) ?? {}
  fixed.set(segment, child)
  return child
}

// A static segment beats a name, a name beats the rest.
function leafOf<T>(node: PathTree<T> | undefined, segments: readonly string[], at: number): Leaf<T> | undefined {
  const segment = segments[at]
  if (!node || segment === undefined) return node?.leaf
  return leafOf(node.fixed?.get(segment), segments, at + 1) ?? leafOf(node.any, segments, at + 1) ?? node.rest
}

/** A slash at the end counts for nothing. */
function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1)
}
