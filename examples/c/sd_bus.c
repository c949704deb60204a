/* SPDX-License-Identifier: Apache-2.0 */
/* Authenticates the user over D-Bus, with sd-bus. See ../README.md. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>

#define NAME "org.example.LocalAuth"
#define INTERFACE NAME
#define PATH "/org/example/LocalAuth"

enum { BIOMETRICS = 1 };
/* Seconds that the service waits for the user, and that we wait for the service: longer, or sd-bus
 * would give up while the prompt is still there. */
enum { TIMEOUT = 60, PATIENCE = TIMEOUT + 10 };
enum { BYTES = 32 };

struct evaluation {
  sd_bus *bus;
  char token[SD_ID128_STRING_MAX];
  sd_bus_message *answer;
};

static void unref_message(sd_bus_message **message) { sd_bus_message_unref(*message); }
#define MESSAGE __attribute__((cleanup(unref_message))) sd_bus_message *
#define ERROR __attribute__((cleanup(sd_bus_error_free))) sd_bus_error

/* Says an error of the service's or, where there is none, of this side's. */
static int say_error(const char *kind, const sd_bus_error *error, int number) {
  ERROR own = SD_BUS_ERROR_NULL;
  if (!sd_bus_error_is_set(error)) {
    sd_bus_error_set_errno(&own, number);
    error = &own;
  }
  printf("%s: %s %s\n", kind, error->name, error->message ? error->message : "");
  return EXIT_FAILURE;
}

/* What the service says of a success; the texts and bytes are the message's. */
struct claims {
  const char *method, *user;
  uint32_t policy;
  const void *ticket;
  size_t ticket_size;
};

/* Reads a{sv}: what is known by name and has the right type. The rest is skipped. */
static int read_claims(sd_bus_message *message, struct claims *claims) {
  int r = sd_bus_message_enter_container(message, 'a', "{sv}");
  while (r > 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
    const char *key, *type;
    if ((r = sd_bus_message_read(message, "s", &key)) < 0) break;
    if ((r = sd_bus_message_peek_type(message, NULL, &type)) < 0) break;
    if (!strcmp(key, "method") && !strcmp(type, "s"))
      r = sd_bus_message_read(message, "v", "s", &claims->method);
    else if (!strcmp(key, "user") && !strcmp(type, "s"))
      r = sd_bus_message_read(message, "v", "s", &claims->user);
    else if (!strcmp(key, "policy") && !strcmp(type, "u"))
      r = sd_bus_message_read(message, "v", "u", &claims->policy);
    else if (!strcmp(key, "ticket") && !strcmp(type, "ay")) {
      if ((r = sd_bus_message_enter_container(message, 'v', "ay")) < 0) break;
      r = sd_bus_message_read_array(message, 'y', &claims->ticket, &claims->ticket_size);
      if (r < 0 || (r = sd_bus_message_exit_container(message)) < 0) break;
    } else
      r = sd_bus_message_skip(message, "v");
    if (r < 0 || (r = sd_bus_message_exit_container(message)) < 0) break;
    r = 1;
  }
  return r < 0 ? r : 0;
}

static int can(sd_bus *bus) {
  ERROR error = SD_BUS_ERROR_NULL;
  MESSAGE answer = NULL;
  int can_evaluate, r;
  int32_t code;
  const char *message;
  r = sd_bus_call_method(bus, NAME, PATH, INTERFACE, "CanEvaluatePolicy", &error, &answer, "u",
                         (uint32_t)BIOMETRICS);
  if (r >= 0) r = sd_bus_message_read(answer, "bis", &can_evaluate, &code, &message);
  if (r < 0) return say_error("error", &error, r);
  if (can_evaluate) return puts("yes"), EXIT_SUCCESS;
  printf("no: %" PRId32 " %s\n", code, message);
  return EXIT_FAILURE;
}

static int on_retry(sd_bus_message *message, void *data, sd_bus_error *error) {
  struct evaluation *evaluation = data;
  const char *token, *cause;
  uint32_t attempts_left;
  (void)error;
  /* Other evaluations of the same user may be heard of, too; and sd-bus does not compare a signal's
   * sender with a name that is well known. Nobody else can know the token. */
  if (sd_bus_message_read(message, "ssu", &token, &cause, &attempts_left) < 0) return 0;
  if (strcmp(token, evaluation->token)) return 0;
  printf("retry: %s, attempts left: %" PRIu32 "\n", cause, attempts_left);
  fflush(stdout);
  return 0;
}

static int on_answer(sd_bus_message *message, void *data, sd_bus_error *error) {
  struct evaluation *evaluation = data;
  (void)error;
  evaluation->answer = sd_bus_message_ref(message);
  return 0;
}

static int on_interrupt(sd_event_source *source, const struct signalfd_siginfo *info, void *data) {
  struct evaluation *evaluation = data;
  (void)source;
  (void)info;
  /* The answer still comes: AppCancel, or the success that was faster. */
  sd_bus_call_method_async(evaluation->bus, NULL, NAME, PATH, INTERFACE, "Cancel", NULL, NULL, "s",
                           evaluation->token);
  return 0;
}

static int send_evaluation(struct evaluation *evaluation, const char *reason,
                           const uint8_t *challenge) {
  MESSAGE call = NULL;
  int r = sd_bus_message_new_method_call(evaluation->bus, &call, NAME, PATH, INTERFACE,
                                         "EvaluatePolicy");
  if (r < 0) return r;
  /* polkit may ask the user whether this program may. */
  if ((r = sd_bus_message_set_allow_interactive_authorization(call, true)) < 0) return r;
  if ((r = sd_bus_message_append(call, "us", (uint32_t)BIOMETRICS, reason)) < 0) return r;
  if ((r = sd_bus_message_open_container(call, 'a', "{sv}")) < 0) return r;
  if ((r = sd_bus_message_append(call, "{sv}", "token", "s", evaluation->token)) < 0) return r;
  if ((r = sd_bus_message_append(call, "{sv}", "timeout", "u", (uint32_t)TIMEOUT)) < 0) return r;
  if (challenge) {
    if ((r = sd_bus_message_open_container(call, 'e', "sv")) < 0) return r;
    if ((r = sd_bus_message_append(call, "s", "challenge")) < 0) return r;
    if ((r = sd_bus_message_open_container(call, 'v', "ay")) < 0) return r;
    if ((r = sd_bus_message_append_array(call, 'y', challenge, BYTES)) < 0) return r;
    if ((r = sd_bus_message_close_container(call)) < 0) return r;
    if ((r = sd_bus_message_close_container(call)) < 0) return r;
  }
  if ((r = sd_bus_message_close_container(call)) < 0) return r;
  return sd_bus_call_async(evaluation->bus, NULL, call, on_answer, evaluation,
                           PATIENCE * UINT64_C(1000000));
}

/* Waits for the answer in an event loop; Ctrl-C cancels. A reply is a success, and nothing else is. */
static int evaluate(sd_bus *bus, const char *reason, const uint8_t *challenge,
                    sd_bus_message **answer) {
  struct evaluation evaluation = {.bus = bus};
  sd_event *loop = NULL;
  sd_id128_t id;
  sigset_t interrupt, before;
  int r = sd_id128_randomize(&id);
  if (r < 0) return r;
  sd_id128_to_string(id, evaluation.token);
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, &before);
  if ((r = sd_event_default(&loop)) >= 0 && (r = sd_bus_attach_event(bus, loop, 0)) >= 0 &&
      (r = sd_event_add_signal(loop, NULL, SIGINT, on_interrupt, &evaluation)) >= 0 &&
      (r = sd_bus_match_signal(bus, NULL, NAME, PATH, INTERFACE, "Retry", on_retry,
                               &evaluation)) >= 0 &&
      (r = send_evaluation(&evaluation, reason, challenge)) >= 0)
    /* Without sd_event_exit, which would close the bus. */
    while (!evaluation.answer && (r = sd_event_run(loop, UINT64_MAX)) >= 0)
      ;
  sd_bus_detach_event(bus);
  sd_event_unref(loop);
  sigprocmask(SIG_SETMASK, &before, NULL);
  *answer = evaluation.answer;
  return r < 0 ? r : 0;
}

static int redeem(sd_bus *bus, const struct claims *success, const uint8_t *challenge,
                  sd_bus_error *error, sd_bus_message **answer) {
  MESSAGE call = NULL;
  int r = sd_bus_message_new_method_call(bus, &call, NAME, PATH, INTERFACE, "RedeemTicket");
  if (r < 0) return r;
  if ((r = sd_bus_message_append_array(call, 'y', success->ticket, success->ticket_size)) < 0)
    return r;
  if ((r = sd_bus_message_append_array(call, 'y', challenge, BYTES)) < 0) return r;
  return sd_bus_call(bus, call, 0, error, answer);
}

static int authenticate(sd_bus *bus, const char *reason, bool wants_ticket) {
  uint8_t challenge[BYTES];
  if (getrandom(challenge, BYTES, 0) != BYTES) return say_error("error", NULL, -errno);
  MESSAGE answer = NULL;
  int r = evaluate(bus, reason, wants_ticket ? challenge : NULL, &answer);
  if (r < 0) return say_error("error", NULL, r);
  if (sd_bus_message_is_method_error(answer, NULL))
    return say_error("error", sd_bus_message_get_error(answer), 0);
  struct claims success = {0};
  r = read_claims(answer, &success);
  if (r >= 0 && (!success.method || (wants_ticket && !success.ticket))) r = -EBADMSG;
  if (r < 0) return say_error("error", NULL, r);
  printf("success: %s\n", success.method);
  fflush(stdout);
  if (!wants_ticket) return EXIT_SUCCESS;
  /* Any process that knows the challenge can check the success, and needs to trust only the
   * service. */
  ERROR error = SD_BUS_ERROR_NULL;
  MESSAGE claims_answer = NULL;
  struct claims claims = {0};
  r = redeem(bus, &success, challenge, &error, &claims_answer);
  if (r >= 0) r = read_claims(claims_answer, &claims);
  if (r >= 0 && (!claims.user || !claims.method || !claims.policy)) r = -EBADMSG;
  if (r < 0) return say_error("error", &error, r);
  printf("ticket: %s by %s, policy %" PRIu32 "\n", claims.user, claims.method, claims.policy);
  /* It can be redeemed once. */
  ERROR refusal = SD_BUS_ERROR_NULL;
  MESSAGE none = NULL;
  if ((r = redeem(bus, &success, challenge, &refusal, &none)) >= 0) return EXIT_FAILURE;
  say_error("refused", &refusal, r);
  return EXIT_SUCCESS;
}

int main(int count, char **words) {
  bool is_can = count == 2 && !strcmp(words[1], "can");
  bool wants_ticket = count >= 2 && !strcmp(words[1], "ticket");
  bool is_evaluation = count >= 2 && count <= 3 && (wants_ticket || !strcmp(words[1], "evaluate"));
  if (!is_can && !is_evaluation) {
    fprintf(stderr, "usage: %s can | evaluate [REASON] | ticket [REASON]\n", words[0]);
    return 2;
  }
  sd_bus *bus = NULL;
  int r = sd_bus_open_system(&bus);
  if (r < 0) return say_error("error", NULL, r);
  const char *reason = count == 3 ? words[2] : "try the sd-bus example";
  int status = is_can ? can(bus) : authenticate(bus, reason, wants_ticket);
  sd_bus_flush_close_unref(bus);
  return status;
}
