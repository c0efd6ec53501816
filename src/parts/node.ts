/** What a part draws, as data. The entries of the UI frameworks turn it into elements; nothing here touches a page. */

/** An event of any framework: of all of them the parts need these members only. */
export interface PartEvent {
  readonly currentTarget: EventTarget | null
  readonly target: EventTarget | null
  /** Of keyboard events. */
  readonly key?: string
  preventDefault(): void
}
/** Names of events that parts listen to. */
export type PartEventName = 'click' | 'submit' | 'change' | 'input' | 'close' | 'keydown'
/** An element. Attributes have the names of HTML; `false` and undefined leave one out, `true` is written as an empty text. */
export interface PartNode {
  /** Stays the same for the same element among its siblings. */
  readonly key: string
  readonly tag: string
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>
  readonly on: Readonly<Partial<Record<PartEventName, (event: PartEvent) => void>>>
  readonly children: readonly PartChild[]
}
/** An element or a text. */
export type PartChild = PartNode | string
/** What is drawn in an element: lists are flattened, and what is false or absent is left out. */
export type PartList = readonly (PartChild | false | null | undefined | PartList)[]
type Content = PartList[number]

/** Makes an element. `key` among the attributes is its key; others are numbered by their place. */
export function el(
  tag: string,
  { key, ...attributes }: PartNode['attributes'] & { key?: string } = {},
  children: Content = [],
  on: PartNode['on'] = {},
): PartNode {
  return { key: key ?? '', tag, attributes, on, children: nameChildren(flatten(children)) }
}

function flatten(given: Content): PartChild[] {
  if (Array.isArray(given)) return (given as PartList).flatMap(flatten)
  return given === false || given === null || given === undefined || given === '' ? [] : [given as PartChild]
}

/** A key is unique among siblings: some frameworks reject two equal ones. */
function nameChildren(children: readonly PartChild[]): PartChild[] {
  const known = new Set<string>()
  return children.map((child, at) => {
    if (typeof child === 'string') return child
    // Another element in the same place is another one.
    const wanted = `${child.tag} ${child.key === '' ? at : child.key}`
    const key = known.has(wanted) ? `${wanted} ${at}` : wanted
    known.add(key)
    return { ...child, key }
  })
}
