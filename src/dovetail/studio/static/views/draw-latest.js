// Asks the server while something changes: one question at a time, and always about the latest state. What was asked
// about in between is left out, so that a slow answer never makes the page lag behind.

export function latestOnly(ask, onAnswer, onError) {
  let running = false;
  let waiting = null;
  let ended = false;

  async function run(question) {
    running = true;
    try {
      const answer = await ask(question);
      if (!ended) onAnswer(answer, question);
    } catch (error) {
      if (!ended) onError(error);
    }
    running = false;
    if (waiting !== null && !ended) {
      const next = waiting;
      waiting = null;
      run(next);
    }
  }

  return {
    ask(question) {
      if (running) waiting = question;
      else run(question);
    },
    forget() {
      waiting = null;
    },
    end() {
      ended = true;
    },
  };
}
