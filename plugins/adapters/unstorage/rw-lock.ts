/** Many readers or one writer, in the order they came. */

export interface RwLock {
  read<T>(work: () => Promise<T>): Promise<T>
  write<T>(work: () => Promise<T>): Promise<T>
}

/** A lock of this process. Writers are not starved: readers that come after a waiting writer wait for it. */
export function createLock(): RwLock {
  let lastWrite: Promise<unknown> = Promise.resolve()
  let readers: Promise<unknown>[] = []
  return {
    read(work) {
      const result = lastWrite.then(work)
      const done = result.catch(ignoreError)
      readers.push(done)
      // Forgets readers that are done, so that a store that is only read does not grow.
      void done.then(() => {
        readers = readers.filter((reader) => reader !== done)
      })
      return result
    },
    write(work) {
      const result = Promise.all([lastWrite, ...readers]).then(work)
      lastWrite = result.catch(ignoreError)
      readers = []
      return result
    },
  }
}

function ignoreError(): void {}
