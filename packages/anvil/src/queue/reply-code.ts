/**
 * The code of an error reply: OOM, LOADING, READONLY, MISCONF, NOPERM, … The code alone, since the text may quote
 * arguments. Redis before 7 wraps an error inside a script as
 * `ERR Error running script (call to f_…): @user_script:1: @user_script: 1: -READONLY …`.
 */
export function replyCode(error: Error): string {
  const inScript = /^ERR Error running script .*?: -([A-Z]+) /.exec(error.message)?.[1];
  return inScript ?? /^[A-Z]+(?= )/.exec(error.message)?.[0] ?? "ERR";
}
