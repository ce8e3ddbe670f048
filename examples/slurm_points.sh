#!/bin/bash
# Runs the points of a plan of firstread as tasks of a Slurm array. All nodes see the working folder.
#
#   firstread study raro --quick --plan plan
#   bash slurm_points.sh plan results --partition=short
#   firstread study raro --quick --out results
#
# The second line submits the script, with a task a point; what follows the two folders are options of sbatch. Where the
# site allows fewer tasks than there are points (MaxArraySize), each task takes several; --array=1-500%64 says how many,
# and how many at a time. FIRSTREAD names the binary where it is not in PATH. What tasks print is in the folder logs.
# After any end the line may be given again: points that have a result are found.
#
#SBATCH --job-name=firstread
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --open-mode=append

plan=${1:?the folder of a plan} out=${2:?the folder of the results}
points=("$plan"/points/*.json)
[ -e "${points[0]}" ] || { echo "$plan has no points" >&2; exit 2; }

if [ -z "$SLURM_ARRAY_TASK_ID" ]; then
    most=$(scontrol show config | awk '$1 == "MaxArraySize" { print $3 - 1 }')
    # Without it there is no Slurm, as scontrol has said.
    [ -n "$most" ] || exit 1
    tasks=$((${#points[@]} < most ? ${#points[@]} : most))
    # Where the folder of its output is missing, a task ends before it begins, without a word.
    mkdir -p logs
    exec sbatch --array="1-$tasks" --output=logs/%A_%a.txt "${@:3}" "$0" "$plan" "$out"
fi

own=()
for ((i = SLURM_ARRAY_TASK_ID - 1; i < ${#points[@]}; i += SLURM_ARRAY_TASK_MAX)); do
    own+=("${points[i]}")
done
"${FIRSTREAD:-firstread}" point "${own[@]}" --out "$out" --threads 1
status=$?
case $status in
    # 4: the result is written, and its drive came to its end. 5: another process makes the point.
    0 | 4 | 5) exit 0 ;;
    # Bad input: another try ends the same.
    2) exit 2 ;;
esac
# Anything else is worth another try, at most three. Slurm begins it after two minutes.
[ "${SLURM_RESTART_COUNT:-0}" -lt 3 ] && scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
exit $status
