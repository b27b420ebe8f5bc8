/*
 * What of the brief that a session began with still holds at its end: the
 * items of a computed brief are read again by their form, those of a
 * model's as they stand. What was done or overcome meanwhile drops out, and
 * what was only said in passing does after one more round, so that a chain
 * of handoffs does not grow without bound.
 */
#ifndef HF_BRIEF_CARRY_H
#define HF_BRIEF_CARRY_H

#include "brief/brief.h"
#include "brief/proof.h"

/* How a computed brief puts things; carry.c knows them again. */
#define HF_SAYS_PROGRESS	" (to-do, in progress)"
#define HF_SAYS_NOT_BEGUN	" (to-do, not begun)"
#define HF_SAYS_DELETED		" (deleted)"
#define HF_SAYS_READ		" (read)"
#define HF_SAYS_LATEST		"Latest request: "
#define HF_SAYS_BEFORE		"Request before: "
#define HF_SAYS_UNANSWERED	"The last request has no answer yet: "
#define HF_SAYS_LAST		"The user's last request: "
#define HF_SAYS_GO_ON		"Go on with: "
#define HF_SAYS_MEND		"Find out why it fails: "
#define HF_SAYS_FINISH		"See what of the last request is left to do, " \
	"and finish it: "
#define HF_SAYS_WORKSPACE	"workspace "
#define HF_SAYS_EARLIER		" (from the session before)"
#define HF_SAYS_NO_MODEL	"No model was used for this brief"

/* The goal of a brief without the requests that it ends with, and the last
 * of those; none. */
struct hf_str hf_carry_goal(struct hf_str goal);
struct hf_str hf_carry_latest(struct hf_str goal);
/* Is the to-do neither done nor given up? */
bool	hf_carry_todo_open(const struct hf_fact_todo *t);
/* Adds what still holds of the seed's verified, pending, next steps and
 * uncertainties behind what is in b. */
void	hf_carry(struct hf_brief *b, const struct hf_proof *p);

/* Calls cb for each file that the seed's artifacts list as written, by its
 * absolute path (borrowed during the call), and for each other artifact
 * that still holds. */
void	hf_carry_files(const struct hf_proof *p,
	    void (*file)(struct hf_str path, void *arg),
	    void (*other)(struct hf_str item, void *arg), void *arg);

#endif
