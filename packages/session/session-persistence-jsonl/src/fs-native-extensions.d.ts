declare module 'fs-native-extensions' {
  /**
   * Takes a kernel lock on a range of the open file (0, 0: all of it) without waiting; false when another lock is in
   * the way.
   */
  export function tryLock(fd: number, offset: number, length: number, options: { shared: boolean }): boolean
}
