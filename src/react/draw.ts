/** Turns what a part draws into elements of React. */
import type { PartChild, PartNode } from 'authkernel/parts'
import { type ComponentType, createElement, type ReactNode } from 'react'

/** Your components instead of elements, by their names in HTML: `{ button: Button, input: Input, label: Label }`. They get the attributes and the children. */
export type PartComponents = Readonly<Record<string, ComponentType<Record<string, unknown>>>>

// React has names of its own for these. Fields keep what was typed: the value is what they begin with.
const names: Readonly<Record<string, string>> = {
  for: 'htmlFor',
  class: 'className',
  tabindex: 'tabIndex',
  novalidate: 'noValidate',
  autocomplete: 'autoComplete',
  autocapitalize: 'autoCapitalize',
  spellcheck: 'spellCheck',
  inputmode: 'inputMode',
  maxlength: 'maxLength',
  minlength: 'minLength',
  readonly: 'readOnly',
  autofocus: 'autoFocus',
  referrerpolicy: 'referrerPolicy',
  value: 'defaultValue',
  viewbox: 'viewBox',
  'shape-rendering': 'shapeRendering',
}
const events = {
  click: 'onClick',
  submit: 'onSubmit',
  change: 'onChange',
  input: 'onInput',
  close: 'onClose',
  keydown: 'onKeyDown',
} as const

/** Draws an element with all that is in it. */
export function drawNode({ key, tag, attributes, on, children }: PartNode, components: PartComponents = {}): ReactNode {
  const type = components[tag] ?? tag
  const isOption = tag === 'option'
  const properties: Record<string, unknown> = { key }
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || (value === false && !name.startsWith('aria-')) || (isOption && name === 'selected')) continue
    // React writes `true` of unknown attributes as a text.
    const own = isOption && name === 'value' ? name : (names[name.toLowerCase()] ?? name)
    properties[own] = value === true && name.startsWith('data-') ? '' : value
  }
  if (tag === 'select') properties['defaultValue'] = children.find(isSelected)?.attributes['value']
  if (tag === 'textarea') return createElement(type, { ...properties, ...handlersOf(on), defaultValue: children.join('') })
  return createElement(type, { ...properties, ...handlersOf(on) }, ...children.map((child) => drawChild(child, components)))
}

function drawChild(child: PartChild, components: PartComponents): ReactNode {
  return typeof child === 'string' ? child : drawNode(child, components)
}

function handlersOf(on: PartNode['on']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(on).map(([name, handler]) => [events[name as keyof typeof events], handler]))
}

function isSelected(child: PartChild): child is PartNode {
  return typeof child !== 'string' && child.attributes['selected'] === true
}
